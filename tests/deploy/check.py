"""Checks the files of deploy/ against each other and against a server that runs.

Needs openssl, promtool, systemd-analyze and what requirements.txt pins. `cargo xtask test` runs it.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import manifests
import monitoring
import server
from files import CheckError, require

# systemd-analyze counts from 0 (hardened) to 100; below 20 it says that all is well.
MOST_EXPOSED = 20


def systemd(flakeid: Path, folder: Path) -> None:
    """The unit is one, and is as closed as a service can be that listens and has a store."""
    copy = folder / server.UNIT.name
    # Where the command is here, because systemd-analyze looks for it.
    copy.write_text(server.UNIT.read_text().replace("/usr/bin/flakeid", str(flakeid)))
    analyze = ["systemd-analyze", "--man=no"]
    told = subprocess.run(
        [*analyze, "verify", str(copy)], capture_output=True, text=True, check=False
    )
    # It also reads the units that are installed here, whatever they are like.
    ours = [line for line in told.stderr.splitlines() if copy.name in line or str(copy) in line]
    require(not ours, "\n".join(ours))
    security = [*analyze, "security", "--offline=true", f"--threshold={MOST_EXPOSED}", str(copy)]
    told = subprocess.run(security, capture_output=True, text=True, check=False)
    require(told.returncode == 0, f"{told.stdout[-300:]}{told.stderr}")
    print(told.stdout.strip().splitlines()[-1])


def main() -> int:
    """Runs every check; the first that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flakeid", type=Path, required=True, help="the command")
    flakeid = parser.parse_args().flakeid.resolve()
    try:
        servers, brokers = manifests.Manifests.servers(), manifests.Manifests.brokers()
        for check in manifests.CHECKS:
            for found in (servers, brokers):
                check(found)
        with tempfile.TemporaryDirectory(prefix="flakeid-deploy-") as name:
            folder = Path(name)
            systemd(flakeid, folder)
            tls = server.certificate(folder)
            metrics = server.pod(flakeid, servers, folder, tls)
            metrics += server.pod(flakeid, brokers, folder, tls)
            server.placeholders(flakeid, servers, folder)
            server.unit(flakeid, folder)
            monitoring.check(servers, metrics, folder)
    except CheckError as error:
        print(f"deploy: {error}", file=sys.stderr)
        return 1
    print("deploy: manifests, unit, alerts and dashboard fit the server")
    return 0


if __name__ == "__main__":
    sys.exit(main())
