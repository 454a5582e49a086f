import json
from pathlib import Path
from typing import Any

import pytest

import flakeid

ROOT = Path(__file__).resolve().parents[2]


class Vectors:
    """The shared vector files. Lists must not be empty, because an empty loop checks nothing."""

    def rows(self, name: str, *path: str) -> list[Any]:
        found = json.loads((ROOT / "tests" / "vectors" / f"{name}.json").read_text("ascii"))
        for key in path:
            found = found[key]
        assert found, f"{name}.json: {path} is empty"
        return found


@pytest.fixture(scope="session")
def vectors() -> Vectors:
    return Vectors()


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture
def clock() -> flakeid.ManualClock:
    return flakeid.ManualClock(1_505_914_988_849)


@pytest.fixture
def generator(clock: flakeid.ManualClock) -> flakeid.Generator:
    """A generator on a manual clock, so that it shares no position with other tests."""
    return flakeid.Generator(node=569, clock=clock)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The URL of a store in a temporary folder of the test."""
    return f"sqlite://{tmp_path}/flakeid.db"
