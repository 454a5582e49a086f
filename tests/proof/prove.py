"""Proves the lease rule, or refutes a change of it: `cargo xtask proof`."""

import pathlib
import re
import sys

import broker
import generator
import layout
import lease
import places
import runs
from solver import Report

# The cases that the promise does not cover, in the words of `promise.md`. Without any one of these assumptions, the
# parts of the proof find a counterexample.
ASSUMPTIONS = [
    "A fixed node",
    "Two primaries of a store",
    "Older data in a running server",
    "A store's clock that is wrong by more than `max_skew`",
    "`flakeid leases release --now` before a restore",
    "Deleted files or edited fences",
    "`--fresh` for a namespace that existed",
    "An older state of all files of an SQLite store",
    "A process copied with its memory",
    "A fork by a raw `clone` system call",
    "Two requests with the same token",
]
PROMISE = pathlib.Path(__file__).parents[2] / "docs/src/how-it-works/promise.md"


def main() -> None:
    """Runs all parts, and compares the assumptions with the documents and with the counterexamples."""
    for part in (lease, broker, runs, places, generator, layout):
        part.prove()
    documented = re.findall(r"^- \*\*(.*?)\*\*", PROMISE.read_text(), flags=re.MULTILINE)
    for where, found in ("promise.md", documented), ("the counterexamples", Report.dropped):
        if sorted(found) != sorted(ASSUMPTIONS):
            Report.failed.append(f"the assumptions differ from {where}: {sorted(set(found) ^ set(ASSUMPTIONS))}")
    if Report.failed:
        sys.exit("\n".join(["the proof fails:", *Report.failed]))
    print(f"proved: {Report.checks} checks, {len(ASSUMPTIONS)} assumptions")


if __name__ == "__main__":
    main()
