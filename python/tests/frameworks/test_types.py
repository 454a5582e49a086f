"""What type checkers make of the modules, except those for Django, which has no types of its own."""

import subprocess
import sys
from pathlib import Path


def test_types(tmp_path):
    """From a folder of its own, or mypy's cache would be left in the checkout."""
    (tmp_path / "sample.py").write_bytes(
        Path(__file__).with_name("typed_frameworks.py").read_bytes()
    )
    run = [sys.executable, "-P", "-m", "mypy", "--strict", "--warn-unused-ignores", "-m", "sample"]
    run += ["-m", "flakeid.sqlalchemy", "-m", "flakeid.pydantic"]
    done = subprocess.run(run, capture_output=True, check=False, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
