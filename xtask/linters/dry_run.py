"""Runs the shell steps of all workflows without effects.

Bash runs each step in an empty folder, in which every program with effects is replaced. The
replacement of `cargo` checks the arguments of `cargo xtask` with xtask itself, and that the
packages of other commands exist. A step with a mistake in its shell code, with an unset variable,
or with an unknown task or option therefore fails here, and not during a release.

Usage: dry_run.py XTASK, in the root of the checkout. XTASK is the path of the compiled xtask.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

# The programs with effects, and the shell code that replaces each of them.
REPLACED = {
    "cargo": f'exec {sys.executable} {Path(__file__).absolute()} --as-cargo "$@"',
    "cosign": "",
    # The digest of the image.
    "docker": 'case "$*" in *inspect*) echo sha256:0 ;; esac',
    "gh": "",
    "git": "",
    "rustup": "",
    "sudo": "",
}

# Values for the expressions whose values only GitHub knows.
VALUES = {
    "github.ref_name": "v1.2.3",
    "github.repository": "flakeid/flakeid",
    "github.token": "token",
    "github.event.pull_request.base.sha": "main",
    "github.event.before": "main",
    "steps.pushed.outputs.digest": "sha256:0",
    "steps.registry.outputs.token": "token",
}

# The files that earlier steps of the same job have downloaded.
DOWNLOADED = ["dist/index.html", "image/x86_64/flakeid", "image/aarch64/flakeid"]


def check_cargo(arguments: list[str]) -> int:
    """Checks the arguments of cargo, and returns an exit code."""
    if arguments[0] == "xtask":
        if arguments[1] == "image":
            Path("target/dist/image").mkdir(parents=True)
        # xtask prints its help only if the arguments before `--help` are valid.
        checked = subprocess.run(
            [os.environ["XTASK"], *arguments[1:], "--help"], stdout=subprocess.DEVNULL, check=False
        )
        return checked.returncode
    packages = [name for option, name in itertools.pairwise(arguments) if option == "-p"]
    known = Path(os.environ["CHECKOUT"], "crates")
    unknown = [name for name in packages if not (known / name).is_dir()]
    if unknown:
        print(f"no such package: {unknown[0]}", file=sys.stderr)
    return len(unknown)


def value(expression: str, matrix: dict) -> str:
    """Returns the value of an expression in `${{ }}`."""
    if expression.startswith("matrix."):
        return str(matrix.get(expression.removeprefix("matrix."), ""))
    alternatives = [VALUES[one] for one in expression.split(" || ") if one in VALUES]
    if not alternatives:
        raise SystemExit(f"dry_run.py needs a value for the expression {expression}")
    return alternatives[0]


def run(step: dict, environment: dict, matrix: dict, programs: str) -> None:
    """Runs one step."""
    given = {
        name: re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda found: value(found[1], matrix), str(text))
        for name, text in environment.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in DOWNLOADED:
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        Path(folder, ".ci").symlink_to(Path(".ci").absolute())
        base = {
            "CHECKOUT": str(Path().absolute()),
            "GITHUB_ACTOR": "actor",
            "GITHUB_OUTPUT": f"{folder}/output",
            "PATH": f"{programs}:/usr/bin:/bin",
            "XTASK": str(Path(sys.argv[1]).absolute()),
        }
        # GitHub runs bash with these options. `-u` also finds variables that no `env` sets.
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-euo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env=base | given,
            check=True,
        )


def main() -> None:
    """Runs every step with each entry of its job's matrix."""
    steps = 0
    with tempfile.TemporaryDirectory() as programs:
        for name, code in REPLACED.items():
            program = Path(programs, name)
            program.write_text(f"#!/bin/sh\n{code}\n")
            program.chmod(0o755)
        for path in sorted(Path(".github/workflows").glob("*.yml")):
            workflow = yaml.safe_load(path.read_text())
            for name, job in workflow["jobs"].items():
                for matrix in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
                    for step in job.get("steps", []):
                        if "run" not in step:
                            continue
                        environment = {}
                        for of in (workflow, job, step):
                            environment |= of.get("env", {})
                        try:
                            run(step, environment, matrix, programs)
                        except subprocess.CalledProcessError as error:
                            where = f"{path}, job {name} {json.dumps(matrix)}"
                            why = f"{where}: exit code {error.returncode} of\n{step['run']}"
                            raise SystemExit(why) from None
                        steps += 1
    print(f"{steps} steps of the workflows ran without effects")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-cargo"]:
        sys.exit(check_cargo(sys.argv[2:]))
    main()
