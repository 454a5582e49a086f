#!/usr/bin/env python3
"""Compares `flakeid serve` with a bare hyper server under the load of wrk.

    measure.py FLAKEID FLAKEID_BENCH [--seconds S] [--rounds N] [--quick] [--json FILE]

FLAKEID and FLAKEID_BENCH are the executables of the command and of the benchmarks. The script
loads the two servers alternately, so that their ratio holds on a noisy machine, and prints a table
in Markdown. With --json, it also writes the results for the report, `benches/report`.
"""

import argparse
import contextlib
import dataclasses
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator

CONNECTIONS = (16, 64, 256)
# The smallest allowed ratio of the throughputs of `flakeid serve` and of the bare server.
LEAST_RATIO = 0.85
SERVERS = ("bare hyper", "`flakeid serve`")
SCRIPT = pathlib.Path(__file__).with_name("wrk.lua")


@dataclasses.dataclass
class Suite:
    """The results in the format that `benches/report` reads."""

    suite: str = "Server under load"
    facts: list[str] = dataclasses.field(default_factory=list)
    rows: list[dict[str, object]] = dataclasses.field(default_factory=list)
    targets: list[dict[str, object]] = dataclasses.field(default_factory=list)

    def add(self, connections: int, rates: list[list[float]], ratios: list[float]) -> None:
        """Adds the throughputs of both servers with a number of connections."""
        measured = statistics.median(ratios)
        for name, of_rounds, ratio in zip(SERVERS, rates, (1.0, measured), strict=True):
            self.rows.append(
                {
                    "id": f"load/{connections}/{name}",
                    "table": f"{connections} connections",
                    "label": name,
                    "role": None,
                    "kind": "none of the three",
                    "unit": "requests/s",
                    "median": statistics.median(of_rounds),
                    "min": min(of_rounds),
                    "max": max(of_rounds),
                    "ratio": ratio,
                }
            )
        self.targets.append(
            {
                "id": f"L{connections}",
                "what": f"`flakeid serve` / bare hyper, requests/s on {connections} connections",
                "bound": "at least",
                "limit": LEAST_RATIO,
                "measured": measured,
                "met": measured >= LEAST_RATIO,
            }
        )

    def print_targets(self) -> None:
        """Prints the targets in the format of the other benchmarks."""
        print("\n## Targets\n")
        for target in self.targets:
            met = "met" if target["met"] else "**not met**"
            what, limit, measured = target["what"], target["limit"], target["measured"]
            print(f"- {target['id']}: {what} ≥ {limit}: measured {measured:.3f}, {met}")


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
    parser.add_argument("--quick", action="store_true", help="measure one round of one second")
    parser.add_argument("--json", type=pathlib.Path, help="file for the results")
    given = parser.parse_args()
    if given.quick:
        given.seconds, given.rounds = 1, 1
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed: apt-get install wrk")
    suite = Suite()
    print("## IDs over HTTP under the load of wrk\n")
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
        urls = dict(
            zip(SERVERS, (f"http://{bare}/one", f"http://{ours}/v1/default/ids"), strict=True)
        )
        for connections in CONNECTIONS:
            results = {name: [] for name in urls}
            for round_number in range(-1, given.rounds):
                for name, url in urls.items():
                    result = load(url, connections, given.seconds)
                    if round_number >= 0:
                        results[name].append(result)
            rates = [[result["rate"] for result in runs] for runs in results.values()]
            ratios = [ours / bare for bare, ours in zip(*rates, strict=True)]
            suite.add(connections, rates, ratios)
            ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            for (name, runs), compared in zip(results.items(), ("1", ratio), strict=True):
                median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
                times = [f"{median[key] / 1000:.2f} ms" for key in ("p50", "p99", "p99.9")]
                cells = [connections, name, f"{median['rate']:,.0f}", *times, compared]
                print("|", " | ".join(map(str, cells)), "|", flush=True)
    suite.print_targets()
    if given.json:
        given.json.write_text(json.dumps(dataclasses.asdict(suite)))


if __name__ == "__main__":
    main()
