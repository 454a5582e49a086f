"""Checks that a server behaves as its OpenAPI description says.

    check.py FLAKEID [--examples N]

FLAKEID is the executable of the command. The first server requires no tokens, and the second one
does. schemathesis makes up the requests.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
TOKEN = "0123456789abcdef"


def run(flakeid: str, folder: Path, name: str, options: list[str], arguments: list[str]) -> bool:
    """Start a server, and return whether it passes all checks."""
    command = [flakeid, "serve", "--listen=127.0.0.1:0", "--log-level=error", *options]
    command += [f"--store=sqlite://{folder}/{name}.db", "--lease-rate-limit=1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            checked = subprocess.run(
                [
                    str(Path(sys.executable).with_name("st")),
                    f"--config-file={FOLDER / 'schemathesis.toml'}",
                    "run",
                    f"{url}/openapi.json",
                    "--no-color",
                    *arguments,
                ],
                check=False,
                cwd=folder,
                env={**os.environ, "SCHEMATHESIS_HOOKS": str(FOLDER / "hooks.py")},
            )
        finally:
            server.terminate()
        return checked.returncode == 0 and server.wait(30) == 0


def main() -> int:
    """Check both servers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("flakeid")
    parser.add_argument("--examples", type=int, default=100)
    arguments = parser.parse_args()
    examples = f"--max-examples={arguments.examples}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = folder / "tokens"
        tokens.write_text(f"all all {TOKEN}\n")
        authorized = f"--header=Authorization: Bearer {TOKEN}"
        passed = [
            run(arguments.flakeid, folder, "open", [], [examples]),
            run(
                arguments.flakeid,
                folder,
                "secured",
                [f"--token-file={tokens}"],
                [examples, authorized],
            ),
        ]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
