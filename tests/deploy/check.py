"""Checks that the files of deploy/ match each other and a running server.

Requires openssl, prometheus with promtool, systemd-analyze and the packages in requirements.txt.
`cargo xtask test` runs it.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import chart
import codes
import compose
import manifests
import monitoring
import prometheus
import server
from files import CheckError, require

# The highest accepted exposure level of systemd-analyze,
# from 0 (hardened) to 100. It rates 20 as "OK".
MOST_EXPOSED = 20


def systemd(flakeid: Path, folder: Path) -> None:
    """Check that the units are valid, and as hardened as a listening service can be."""
    for unit in (server.UNIT, server.HOST_UNIT):
        check_unit(unit, flakeid, folder)


def check_unit(unit: Path, flakeid: Path, folder: Path) -> None:
    """Check one unit with systemd-analyze."""
    copy = folder / unit.name
    # systemd-analyze checks the path of the command, so this replaces it by the actual path.
    copy.write_text(unit.read_text().replace("/usr/bin/flakeid", str(flakeid)))
    analyze = ["systemd-analyze", "--man=no"]
    verified = subprocess.run(
        [*analyze, "verify", str(copy)], capture_output=True, text=True, check=False
    )
    # systemd-analyze also reports problems of the units that are installed on this machine.
    ours = [line for line in verified.stderr.splitlines() if copy.name in line or str(copy) in line]
    require(not ours, "\n".join(ours))
    security = [*analyze, "security", "--offline=true", f"--threshold={MOST_EXPOSED}", str(copy)]
    rated = subprocess.run(security, capture_output=True, text=True, check=False)
    require(rated.returncode == 0, f"{rated.stdout[-300:]}{rated.stderr}")
    print(rated.stdout.strip().splitlines()[-1])


def main() -> int:
    """Run every check, and stop at the first failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flakeid", type=Path, required=True, help="the command")
    flakeid = parser.parse_args().flakeid.resolve()
    try:
        chart.is_rendered()
        compose.check()
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
            for found in (servers, brokers):
                server.namespaces(flakeid, found, folder)
            server.placeholders(flakeid, servers, folder)
            server.unit(flakeid, folder)
            server.host_unit(flakeid, folder)
            monitoring.check(servers, metrics, folder)
            codes.check(flakeid, folder)
            prometheus.check(flakeid, servers, brokers, folder, tls)
    except CheckError as error:
        print(f"deploy: {error}", file=sys.stderr)
        return 1
    print("deploy: manifests, unit, alerts and dashboard match the server")
    return 0


if __name__ == "__main__":
    sys.exit(main())
