import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="session", autouse=True)
def checker(tmp_path_factory: pytest.TempPathFactory):
    """Start a type checker, which takes seconds and therefore runs in parallel with the tests.

    It runs in a temporary folder, so that it leaves no cache in the checkout.
    """
    folder = tmp_path_factory.mktemp("types")
    sample = Path(__file__).with_name("typed_frameworks.py")
    (folder / "sample.py").write_bytes(sample.read_bytes())
    run = [sys.executable, "-P", "-m", "mypy", "--strict", "--warn-unused-ignores", "-m", "sample"]
    run += ["-m", "flakeid.sqlalchemy", "-m", "flakeid.pydantic"]
    run += ["-m", "flakeid._asyncio", "-m", "flakeid._at_exit"]
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(run, cwd=folder, **output) as checker:
        yield checker
        checker.kill()


@pytest.fixture(scope="session")
def postgresql() -> str:
    """The URL of a private server, which `cargo xtask python --test` starts."""
    return os.environ["FLAKEID_POSTGRESQL"]


@pytest.fixture(scope="session")
def redis() -> str:
    """The URL of a private server, which `cargo xtask python --test` starts."""
    return os.environ["FLAKEID_REDIS"]


@pytest.fixture
def free_port() -> int:
    """A port on which no program listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database in SQLAlchemy's form."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/application.sqlite"
    url: str = request.getfixturevalue("postgresql")
    return url.replace("postgresql://", "postgresql+psycopg://")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make the modules of an example importable, in a temporary folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLAKEID_STORE", f"sqlite://{tmp_path}/flakeid.db")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def of_examples() -> list[str]:
        known = sys.modules.items()
        return [name for name, module in known if str(EXAMPLES) in repr(module)]

    # Several examples have a package with the same name.
    for module in of_examples():
        monkeypatch.delitem(sys.modules, module)

    def find(name: str) -> None:
        monkeypatch.syspath_prepend(EXAMPLES / name)

    yield find
    for module in of_examples():
        del sys.modules[module]
