#!/usr/bin/env python3
"""Compares `flakeid serve` with a bare hyper server under the load of wrk.

    measure.py FLAKEID FLAKEID_BENCH [--seconds S] [--rounds N]

FLAKEID and FLAKEID_BENCH are the executables of the command and of the benchmarks. The script
loads the two servers alternately, so that their ratio holds on a noisy machine, and prints a table
in Markdown. wrk must be installed: apt-get install wrk.
"""

import argparse
import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterator

CONNECTIONS = (16, 64, 256)
SCRIPT = pathlib.Path(__file__).with_name("wrk.lua")


@contextlib.contextmanager
def started(command: list[str], pattern: str) -> Iterator[str]:
    """Starts a server, and yields the address that the pattern finds in the server's output."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        for line in process.stdout:
            if found := re.search(pattern, line):
                yield found[1]
                return
        raise SystemExit(f"{command[0]} ended without printing its address")
    finally:
        process.terminate()
        process.wait()


def load(url: str, connections: int, seconds: int) -> dict[str, float]:
    """Returns the results of one run of wrk. Exits if a request failed."""
    command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "-s", str(SCRIPT), url]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result = json.loads(printed.strip().splitlines()[-1])
    if result["failed"]:
        raise SystemExit(f"{url}: {result['failed']} requests failed\n{printed}")
    result["rate"] = result["requests"] / result["microseconds"] * 1e6
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("flakeid")
    parser.add_argument("bench")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    serve = [given.flakeid, "serve", "--no-leases", "--listen", "127.0.0.1:0"]
    columns = ["connections", "server", "requests per second", "p50", "p99", "p99.9", "ratio"]
    print("|", " | ".join(columns), "|")
    print("|---|---|---|---|---|---|---|")
    with (
        tempfile.TemporaryDirectory() as folder,
        started([given.bench, "bare-server"], r"(127\.0\.0\.1:\d+)") as bare,
        started(
            [*serve, "--store", f"sqlite://{folder}/flakeid.db"], r"(127\.0\.0\.1:\d+)"
        ) as ours,
    ):
        urls = {
            "bare hyper": f"http://{bare}/one",
            "`flakeid serve`": f"http://{ours}/v1/default/ids",
        }
        for connections in CONNECTIONS:
            results = {name: [] for name in urls}
            for round_number in range(-1, given.rounds):
                for name, url in urls.items():
                    result = load(url, connections, given.seconds)
                    if round_number >= 0:
                        results[name].append(result)
            rates = [[result["rate"] for result in runs] for runs in results.values()]
            ratios = [ours / bare for bare, ours in zip(*rates, strict=True)]
            ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            for (name, runs), compared in zip(results.items(), ("1", ratio), strict=True):
                median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
                times = [f"{median[key] / 1000:.2f} ms" for key in ("p50", "p99", "p99.9")]
                cells = [connections, name, f"{median['rate']:,.0f}", *times, compared]
                print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
