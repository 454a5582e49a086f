"""Checks of alerts and dashboard: their PromQL is valid, and the server has their metrics."""

import json
import re
import subprocess
from pathlib import Path

from files import DEPLOY, ROOT, documents, require
from manifests import Manifests

RULES = DEPLOY / "prometheus" / "rules.yml"
DASHBOARD = DEPLOY / "grafana" / "flakeid-serve.json"

# The labels that Prometheus adds, and `le`, which no request of this check produces.
ADDED = {"job", "instance", "le"}
SELECTOR = re.compile(r"\b(flakeid_\w+)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r"(\w+)\s*(=~|!~|!=|=)\s*\"([^\"]*)\"")


def series(metrics: str) -> dict[str, set[str]]:
    """Return the names of the server's series, with the names of their labels."""
    found: dict[str, set[str]] = {}
    suffixes = {
        "counter": ["_total"],
        "info": ["_info"],
        "histogram": ["_bucket", "_sum", "_count"],
    }
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", metrics, re.MULTILINE):
        for suffix in suffixes.get(kind, [""]):
            found[name + suffix] = set()
    for name, labels in re.findall(r"^(flakeid_\w+)(?:\{(.*)\})? \S+$", metrics, re.MULTILINE):
        require(name in found, f"the series {name} has no type")
        found[name] |= set(re.findall(r"(\w+)=\"", labels))
    return found


def queries_of_dashboard() -> list[str]:
    """Return the PromQL expressions of all panels and variables."""
    dashboard = json.loads(DASHBOARD.read_text())
    panels = dashboard["panels"]
    numbers = [panel["id"] for panel in panels]
    require(len(numbers) == len(set(numbers)), f"{DASHBOARD}: several panels have the same id")
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        require(at["x"] + at["w"] <= 24, f"{panel['title']} is wider than the page")
        require(not cells & taken, f"{panel['title']} overlaps another panel")
        taken |= cells
    variables = [v["definition"] for v in dashboard["templating"]["list"] if v["type"] == "query"]
    labels = [re.fullmatch(r"label_values\((.*), (\w+)\)", text).groups() for text in variables]
    of_panels = [target["expr"] for panel in panels for target in panel["targets"]]
    return of_panels + [f"count by ({label}) ({metric})" for metric, label in labels]


def without_variables(query: str, rate_interval: str) -> str:
    """Replace the variables of a query of the dashboard, as Grafana does."""
    plain = query.replace("$__rate_interval", rate_interval).replace("$namespace", ".*")
    plain = plain.replace("$job", "flakeid-serve|flakeid-broker")
    require("$" not in plain, f"{DASHBOARD}: unknown variable in {query}")
    return plain


def known(query: str, found: dict[str, set[str]], codes: set[str], where: Path) -> None:
    """Check that the server has every metric, label and code of a query."""
    for name, matchers in SELECTOR.findall(query):
        require(name in found, f"{where}: the server has no metric {name}")
        for label, operator, value in MATCHER.findall(matchers):
            require(label in found[name] | ADDED, f"{where}: {name} has no label {label}")
            if label == "code":
                wanted = value.split("|") if "~" in operator else [value]
                require(set(wanted) <= codes, f"{where}: unknown codes: {set(wanted) - codes}")


def codes_of_sources() -> set[str]:
    """Return all codes that a response can have."""
    folders = [ROOT / "crates" / name / "src" for name in ("flakeid-core", "flakeid-server")]
    texts = [path.read_text() for folder in folders for path in folder.rglob("*.rs")]
    return {code for text in texts for code in re.findall(r"\"((?:FLAKEID|HTTP)_\w+|OK)\"", text)}


def promtool(*arguments: str) -> None:
    """Check that Prometheus's own tool succeeds."""
    tried = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    require(tried.returncode == 0, f"promtool {arguments}: {tried.stdout}{tried.stderr}")


def check(found: Manifests, metrics: str, folder: Path) -> None:
    """Check alerts and dashboard, and that the operator's rules match those of Prometheus."""
    has, codes = series(metrics), codes_of_sources()
    (rules,) = documents(RULES)
    alerts = [rule for group in rules["groups"] for rule in group["rules"]]
    queries = queries_of_dashboard()
    for where, texts in ((RULES, [rule["expr"] for rule in alerts]), (DASHBOARD, queries)):
        for text in texts:
            known(text, has, codes, where)
    promtool("check", "rules", str(RULES))
    promtool("test", "rules", str(DEPLOY / "prometheus" / "rules.test.yml"))
    plain = [without_variables(query, "5m") for query in queries]
    recorded = [{"record": f"panel:{number}", "expr": q} for number, q in enumerate(plain)]
    generated = folder / "dashboard-rules.json"
    generated.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": recorded}]}))
    promtool("check", "rules", str(generated))
    operator = found.monitoring["PrometheusRule", found.name]["spec"]
    require(operator == rules, f"the PrometheusRule {found.name} differs from rules.yml")
