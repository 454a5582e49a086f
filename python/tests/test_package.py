"""The installed package: version, documentation, types, and the programs of the README."""

import importlib.metadata
import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import flakeid


def test_tests_import_the_installed_package(root):
    # pip writes this file for packages that it did not find on an index.
    origin = importlib.metadata.distribution("flakeid-core").read_text("direct_url.json")
    is_editable = json.loads(origin or "{}").get("dir_info", {}).get("editable", False)
    assert (root / "python" in Path(flakeid.__file__).resolve().parents) == is_editable


def test_import_loads_no_slow_modules():
    program = "import sys, flakeid; print({'asyncio', 'functools', 'typing'} & {*sys.modules})"
    run = [sys.executable, "-S", "-P", "-c", f"import sys; sys.path[:] = {sys.path}; {program}"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_version_matches_the_version_of_cargo(root):
    cargo = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]
    assert flakeid.__version__ == cargo["version"]
    assert importlib.metadata.version("flakeid-core") == cargo["version"]
    metadata = importlib.metadata.metadata("flakeid-core")
    assert metadata["License-Expression"] == cargo["license"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Summary"]
    assert metadata["Keywords"].split(",") == cargo["keywords"]


def test_every_public_name_has_documentation():
    for name in flakeid.__all__:
        value = getattr(flakeid, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(value), name
        if inspect.isclass(value) and value.__module__ == "flakeid":
            for member, what in vars(value).items():
                if not member.startswith("_"):
                    assert inspect.getdoc(what), f"{name}.{member}"
    assert "max_wait" in str(inspect.signature(flakeid.Generator))
    assert "max_wait" in str(inspect.signature(flakeid.lease))


def test_all_contains_every_public_name():
    # Another test may have imported `compat`.
    modules = {"errors", "compat"}
    public = {name for name in dir(flakeid) if not name.startswith("_")} - modules
    assert public | {"__version__"} == set(flakeid.__all__)


def mypy(folder, module, *arguments):
    """Run a module in a temporary folder, so that mypy leaves no cache in the checkout."""
    run = [sys.executable, "-P", "-m", module, *arguments]
    done = subprocess.run(run, capture_output=True, check=False, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_match_the_extension(tmp_path):
    # All other modules are Python. The framework modules cannot be imported without the frameworks.
    mypy(tmp_path, "mypy.stubtest", "flakeid._flakeid")


def test_stubs_contain_the_documentation_of_the_extension(root):
    program = "import stubs; print(*stubs.outdated(stubs.STUB.read_text()))"
    tests = str(root / "python" / "tests")
    # The tests are modules of no package, so that another process imports the tool.
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {tests!r}); {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    remedy = "run: python -P python/tests/stubs.py && cargo xtask format"
    assert done.stdout.split() == [], remedy


def test_type_checker_accepts_the_typed_sample(tmp_path):
    sample = Path(__file__).with_name("typed_sample.py")
    mypy(tmp_path, "mypy", "--strict", "--warn-unused-ignores", str(sample))


def test_quickstart_example_prints_an_id(root):
    run = [sys.executable, str(root / "examples" / "quickstart.py")]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    id, base62, parts = done.stdout.split(maxsplit=2)
    assert flakeid.from_base62(base62) == int(id)
    assert parts.strip() == repr(flakeid.decode(int(id)))
    assert "node=7," in parts


def test_examples_of_the_readme_run(root, tmp_path, monkeypatch):
    url = f"sqlite://{tmp_path}/flakeid.db"
    monkeypatch.setenv("FLAKEID_STORE", url)
    page = (root / "python" / "README.md").read_text()
    example = (root / "examples" / "first.py").read_text()
    assert f"<!-- file: examples/first.py -->\n```python\n{example}```\n" in page
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 6
    for block in blocks:
        program = "from datetime import datetime, timezone\n"
        program += block.replace("postgresql://db/app", url).replace("sqlite://flakeid.db", url)
        names = {"flakeid": flakeid, "__name__": "page"}
        exec(program, names)


@pytest.mark.parametrize(
    "option",
    sorted(
        {
            name
            for call in (flakeid.Generator, flakeid.lease, flakeid.CachedGenerator)
            for name in inspect.signature(call).parameters
            if name not in ("generator", "url")
        }
    ),
)
def test_guide_mentions_every_option(root, option):
    page = (root / "docs" / "src" / "reference" / "options.md").read_text()
    assert f"In Python: `{option}`" in " ".join(page.split())


def test_tests_of_the_guide_pass(root, tmp_path):
    tests = str(root / "examples" / "testing" / "test_orders.py")
    run = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(run, cwd=tmp_path, env=env, check=True)
