"""Subinterpreters, which flakeid rejects when it is imported."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
try:
    import _interpreters as interpreters  # Python 3.13 and later

    interpreter = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters

    interpreter = interpreters.create()

CODE = '''
try:
    import flakeid
except ImportError as error:
    print(error)
else:
    print(flakeid.Generator(node=1, sequence_mask=0).next_ids(3))
'''

def in_main():
    import flakeid
    assert len(flakeid.Generator(node=2, sequence_mask=0).next_ids(3)) == 3

if sys.argv[1] == "main":
    in_main()
interpreters.run_string(interpreter, CODE)
interpreters.destroy(interpreter)
in_main()
"""


@pytest.mark.parametrize("first", ["main", "subinterpreter"])
def test_import_in_a_subinterpreter_fails_and_names_the_settings_of_servers(
    first: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    run = [sys.executable, "-P", str(program), first]
    done = subprocess.run(run, check=True, capture_output=True, text=True, timeout=60)
    assert "flakeid does not support subinterpreters" in done.stdout
    assert "`WSGIApplicationGroup %{GLOBAL}`" in done.stdout
    assert "`single-interpreter = true`" in done.stdout
