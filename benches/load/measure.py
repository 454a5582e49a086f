#!/usr/bin/env python3
"""Compares `flakeid serve` with a bare hyper server under the load of wrk, and prints a table in Markdown.

    measure.py FLAKEID FLAKEID_BENCH [--seconds S] [--rounds N]

FLAKEID and FLAKEID_BENCH are the executables of the command and of the benchmarks. The two servers are loaded
alternately, so that their ratio holds on a noisy machine. wrk must be installed: apt-get install wrk.
"""

import argparse
import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

CONNECTIONS = (16, 64, 256)
SCRIPT = pathlib.Path(__file__).with_name("wrk.lua")


@contextlib.contextmanager
def started(command, pattern):
    """Starts a server, and yields its address, which the pattern finds in a line of the server's output."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in process.stdout:
            if found := re.search(pattern, line):
                yield found[1]
                return
        raise SystemExit(f"{command[0]} ended without printing its address")
    finally:
        process.terminate()
        process.wait()


def load(url, connections, seconds):
    """Returns the results of one run of wrk. Exits if a request failed."""
    command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "-s", str(SCRIPT), url]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result = json.loads(printed.strip().splitlines()[-1])
    if result["failed"]:
        raise SystemExit(f"{url}: {result['failed']} requests failed\n{printed}")
    result["rate"] = result["requests"] / result["microseconds"] * 1e6
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("flakeid")
    parser.add_argument("bench")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    folder = tempfile.TemporaryDirectory()
    store = f"sqlite://{folder.name}/flakeid.db"
    serve = [given.flakeid, "serve", "--no-leases", "--store", store, "--listen", "127.0.0.1:0"]
    print("| connections | server | requests per second | p50 | p99 | p99.9 | throughput compared with bare hyper |")
    print("|---|---|---|---|---|---|---|")
    with (
        started([given.bench, "bare-server"], r"(127\.0\.0\.1:\d+)") as bare,
        started(serve, r"(127\.0\.0\.1:\d+)") as ours,
    ):
        urls = {"bare hyper": f"http://{bare}/one", "`flakeid serve`": f"http://{ours}/v1/ids/default"}
        for connections in CONNECTIONS:
            results = {name: [] for name in urls}
            for round_number in range(-1, given.rounds):
                for name, url in urls.items():
                    result = load(url, connections, given.seconds)
                    if round_number >= 0:
                        results[name].append(result)
            rates = {name: [result["rate"] for result in runs] for name, runs in results.items()}
            ratios = [ours / bare for bare, ours in zip(*rates.values())]
            for name, runs in results.items():
                median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
                times = " | ".join(f"{median[key] / 1000:.2f} ms" for key in ("p50", "p99", "p99.9"))
                ratio = "1" if name == "bare hyper" else f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
                print(f"| {connections} | {name} | {median['rate']:,.0f} | {times} | {ratio} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
