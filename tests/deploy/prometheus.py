"""Checks of alerts and dashboard with a running Prometheus.

Prometheus scrapes the servers with the labels that the Prometheus Operator adds.
"""

import json
import socket
import ssl
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from files import CheckError, require
from manifests import Manifests
from monitoring import RULES, queries_of_dashboard, without_variables
from server import METRICS_TOKEN, POD, TIMEOUT, TOKEN, Running, valid_arguments
from server import running as serve

# The labels that the Prometheus Operator adds to the targets of a ServiceMonitor.
OPERATOR = {"namespace": "default", "endpoint": "https", "container": "flakeid"}
# A range that contains several scrapes.
RATE_INTERVAL = "5s"
# The number of requests to each server, 0.1 s apart: they take longer than `RATE_INTERVAL`.
USES = 70
# The certificate of this check is valid for two days.
CERTIFICATE_ALERT = "FlakeidServeCertificateExpires"


@dataclass
class Prometheus:
    """A running Prometheus."""

    port: int

    def get(self, path: str, **parameters: str) -> dict[str, Any]:
        """Return a response of the HTTP API."""
        query = urllib.parse.urlencode(parameters)
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{query}"
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            return json.load(response)

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the series that a PromQL expression finds now."""
        return self.get("query", query=expression)["data"]["result"]

    def wait(self, what: str, happened: Callable[[], object]) -> None:
        """Wait until a condition holds."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            try:
                if happened():
                    return
            except OSError:
                pass  # Prometheus does not listen yet.
            time.sleep(0.2)
        raise CheckError(f"Prometheus: {what} did not happen within {TIMEOUT} s")


def target(found: Manifests, server: Running, pod: str) -> dict[str, Any]:
    """Return the scrape configuration of one pod, with the labels that the Operator adds."""
    (endpoint,) = found.monitoring["ServiceMonitor", found.name]["spec"]["endpoints"]
    labels = {**OPERATOR, "service": found.name, "pod": pod, "instance": f"10.0.0.7:{server.port}"}
    return {
        "job_name": found.name,
        "scrape_interval": "1s",
        "scheme": endpoint["scheme"],
        "metrics_path": endpoint["path"],
        "authorization": {"credentials": METRICS_TOKEN},
        "tls_config": {"ca_file": "tls.crt", "server_name": "127.0.0.1"},
        "static_configs": [{"targets": [f"127.0.0.1:{server.port}"], "labels": labels}],
    }


@contextmanager
def running(folder: Path, targets: list[dict[str, Any]]) -> Iterator[Prometheus]:
    """Start Prometheus with the alerts of this project, and stop it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    configuration = {
        "global": {"evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": targets,
    }
    # JSON is a subset of YAML.
    (folder / "prometheus.yml").write_text(json.dumps(configuration))
    command = ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=prometheus"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"]
    with (folder / "prometheus.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        yield Prometheus(port)
    except CheckError as error:
        raise CheckError(f"{error}\n{(folder / 'prometheus.log').read_text()}") from error
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def alerts(prometheus: Prometheus) -> list[dict[str, Any]]:
    """Return the alerting rules with their states."""
    return [rule for group in prometheus.get("rules")["data"]["groups"] for rule in group["rules"]]


def dashboard(prometheus: Prometheus) -> None:
    """Check that every query of the dashboard returns data for the jobs of the manifests."""
    for query in queries_of_dashboard():
        plain = without_variables(query, RATE_INTERVAL)
        found = prometheus.query(plain)
        require(found, f"the dashboard shows nothing for {query}")


def is_active(prometheus: Prometheus, name: str, pod: str) -> bool:
    """Return whether an alert is pending or firing for a pod."""
    return any(
        alert["labels"].get("pod") == pod
        for rule in alerts(prometheus)
        if rule["name"] == name
        for alert in rule["alerts"]
    )


def labels(prometheus: Prometheus) -> None:
    """Check that the labels of the servers do not collide with those of the Operator."""
    matching = {"match[]": '{__name__=~"flakeid_.+"}'}
    for found in prometheus.get("series", **matching)["data"]:
        renamed = [label for label in found if label.startswith("exported_")]
        require(not renamed, f"a label of the server hides a label of the target: {found}")
        require(OPERATOR.items() <= found.items(), f"a label of the target is missing: {found}")


def check(
    flakeid: Path, servers: Manifests, brokers: Manifests, folder: Path, tls: ssl.SSLContext
) -> None:
    """Check alerts and dashboard while servers are used, and after a broker has stopped."""
    with ExitStack() as serving, ExitStack() as granting:
        targets, started = [], []
        for stack, found, pod in (
            (serving, servers, "flakeid-serve-x2x9z"),
            (granting, brokers, POD),
        ):
            arguments = valid_arguments(found, folder)
            store = f"sqlite://{folder}/monitored-{found.name}.db"
            server = stack.enter_context(serve(flakeid, arguments, store, folder, tls))
            started.append(server)
            targets.append(target(found, server, pod))
        prometheus = serving.enter_context(running(folder, targets))
        scraped = 'count(up{job=~"flakeid-serve|flakeid-broker"} == 1) == 2'
        prometheus.wait("two scrapes", lambda: prometheus.query(scraped))
        for _ in range(USES):
            for server in started:
                server.request("POST", "/v1/default/ids", TOKEN)
            now = json.dumps({"now": time.time_ns() // 1_000_000})
            started[1].request("POST", "/v1/default/leases", TOKEN, now)
            time.sleep(0.1)
        dashboard(prometheus)
        labels(prometheus)
        for rule in alerts(prometheus):
            require(rule["health"] == "ok", f"an alert cannot be evaluated: {rule}")
            is_quiet = rule["state"] == "inactive" or rule["name"] == CERTIFICATE_ALERT
            require(is_quiet, f"an alert is active although nothing is wrong: {rule}")
        granting.close()
        down = "FlakeidServeDown"
        prometheus.wait(f"{down} for {POD}", lambda: is_active(prometheus, down, POD))
