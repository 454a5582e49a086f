"""Compares flakeid with the Python packages it competes with, in one run.

Prints Markdown, and with --json also writes the figures to a file.

The rows of a table are sampled in turn: each row once per round, and each round begins with another
row. A ratio compares two rows of the same round, and the median of the rounds is printed. See
README.md.
"""

import argparse
import importlib.metadata
import itertools
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence

import flakeid_floor
import numpy
import snowflake
import uuid_utils

import flakeid

# No tick of these layouts fills up, because otherwise the layout's ceiling would be measured. IDs
# are above 2^62, like the floor's.
PER_CALL = "t41.n1.s21@0/1ms"
OF_RING = "t41.n1.s21@1/1ms"
# Generators of one layout and node share their position, and a late one must catch up.
SYSTEM, COARSE = "t41.n1.s21@2/1ms", "t41.n1.s21@3/1ms"
PER_ARRAY = "t30.s33@1104537600000/1s"

#: Source of a function that runs a statement the given number of times and returns the nanoseconds.
Timed = Callable[[int], int]

COST = "CPU cost per ID"
OTHER = "none of the three"

TEMPLATE = """
def run(count):
    numbers = repeat(None, count)
    start = clock()
    for _ in numbers:
        {statement}
    return clock() - start
"""


def timed(statement: str, **names: object) -> Timed:
    """Return a function that repeats a statement and returns the time in ns, including the loop."""
    scope = {"repeat": itertools.repeat, "clock": time.perf_counter_ns}
    # Names are locals of a closure, as in a function of a user.
    body = TEMPLATE.format(statement=statement).replace("\n", "\n    ")
    exec(f"def make({', '.join(names)}):\n    {body}\n    return run", scope)
    return scope["make"](**names)


class Row:
    def __init__(self, name: str, run: Timed | None, ids: int = 1) -> None:
        self.name, self.run, self.ids, self.samples = name, run, ids, []

    def calibrate(self, nanoseconds: int) -> None:
        self.count = 1
        # The fastest of three, because an interruption would end the calibration too early.
        while (took := min(self.run(self.count) for _ in range(3))) < nanoseconds / 8:
            self.count *= 2
        self.count = max(1, int(self.count * nanoseconds / took))

    def sample(self) -> None:
        self.samples.append(self.run(self.count) / self.count / self.ids)


def measure(rows: Sequence[Row], rounds: int, nanoseconds: int) -> None:
    for row in rows:
        row.calibrate(nanoseconds)
    for turn in range(rounds):
        for index in range(len(rows)):
            rows[(turn + index) % len(rows)].sample()


def ratio(row: Row, other: Row) -> float:
    return statistics.median(a / b for a, b in zip(row.samples, other.samples, strict=True))


class Report:
    """Prints tables and targets, and keeps the figures as data."""

    def __init__(self) -> None:
        self.rows, self.targets = [], []

    def table(
        self,
        title: str,
        rows: Sequence[Row],
        floor: Row,
        unit: str,
        kind: str = COST,
        parts: Sequence[Row] = (),
    ) -> None:
        print(f"\n## {title}\n\nKind of figures: {kind}.\n")
        print(f"| | {unit} | min..max | ratio |\n|---|---:|---:|---:|")
        for row in rows:
            median, least, most = statistics.median(row.samples), min(row.samples), max(row.samples)
            to_floor = ratio(row, floor)
            print(f"| {row.name} | {median:.2f} | {least:.2f}..{most:.2f} | {to_floor:.2f} |")
            role = "ours" if "**flakeid**" in row.name else "rival"
            self.rows.append(
                {
                    "id": f"python.{slug(title)}.{slug(row.name)}",
                    "table": title,
                    "label": row.name,
                    "role": None if row in parts else "floor" if row is floor else role,
                    "kind": kind,
                    "unit": unit,
                    "median": median,
                    "min": least,
                    "max": most,
                    "ratio": to_floor,
                }
            )

    def target(
        self, name: str, text: str, found: float, limit: float, wanted: str = "at most"
    ) -> None:
        met = found <= limit if wanted == "at most" else found >= limit
        print(f"| {name}: {text} | {wanted} {limit:.2f} | {found:.2f} | {'yes' if met else 'NO'} |")
        self.targets.append(
            {
                "id": name,
                "what": text,
                "bound": wanted,
                "limit": limit,
                "measured": found,
                "met": met,
            }
        )


def slug(text: str) -> str:
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")


def started(statement: str, runs: int) -> Iterator[float]:
    """Yields the milliseconds that a statement takes as the first of a new interpreter."""
    program = (
        "import time; start = time.perf_counter_ns(); "
        f"{statement}; print(time.perf_counter_ns() - start)"
    )
    command = [sys.executable, "-P", "-c", program]
    for _ in range(runs):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        yield int(done.stdout) / 1e6


def starts(runs: int) -> list[Row]:
    rows = []
    for name, statement in [
        ("`import uuid`, of the standard library", "import uuid"),
        ("**flakeid** `import flakeid`", "import flakeid"),
        (
            "**flakeid** `import flakeid`, a generator and its first ID",
            "import flakeid; flakeid.Generator(node=1).next_id()",
        ),
        ("`import uuid_utils`", "import uuid_utils"),
        ("snowflake-id `import snowflake`", "import snowflake"),
    ]:
        row = Row(name, None)
        row.samples.extend(started(statement, runs))
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run fewer and shorter samples; the figures mean little",
    )
    parser.add_argument(
        "--json", type=pathlib.Path, metavar="FILE", help="write the figures to this file, as JSON"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flakeid-bench-") as folder:
        run(options.quick, options.json, pathlib.Path(folder) / "flakeid.db")


def run(quick: bool, file: pathlib.Path | None, store: pathlib.Path) -> None:
    rounds, span, runs = (3, 1_000_000, 3) if quick else (101, 20_000_000, 21)

    floor = flakeid_floor.Floor()
    generator = flakeid.Generator(node=1, layout=PER_CALL)
    coarse = flakeid.Generator(node=1, layout=COARSE, clock="coarse")
    system = flakeid.Generator(node=1, layout=SYSTEM, clock="system")
    local = generator.local()
    cached = flakeid.CachedGenerator(flakeid.Generator(node=1, layout=OF_RING))
    leased = flakeid.lease(f"sqlite://{store}", layout=PER_CALL)
    arrays = flakeid.Generator(layout=PER_ARRAY)
    peer = snowflake.SnowflakeGenerator(1)
    counter = itertools.count(2**62)
    small, large = numpy.zeros(1000, numpy.uint64), numpy.zeros(1_000_000, numpy.uint64)
    ours = (generator, leased, arrays)
    for one in ours:
        one.next_id()
    waits = [one.stats().waits for one in ours]

    loop = Row("the loop itself", timed("pass"))
    least = Row("**P**: an empty pyo3 method that returns an int", timed("o.one()", o=floor))
    counted = Row(
        "the same, which reads the processor's counter and swaps a word: the bound",
        timed("o.counted()", o=floor),
    )
    next_id = Row("**flakeid** `next_id()`", timed("o.next_id()", o=generator))
    next_leased = Row("**flakeid** `next_id()`, leased on SQLite", timed("o.next_id()", o=leased))
    next_system = Row("**flakeid** `next_id()`, `clock='system'`", timed("o.next_id()", o=system))
    next_coarse = Row("**flakeid** `next_id()`, `clock='coarse'`", timed("o.next_id()", o=coarse))
    next_local = Row("**flakeid** `local().next_id()`", timed("o.next_id()", o=local))
    next_cached = Row("**flakeid** `CachedGenerator`, `next_id()`", timed("o.next_id()", o=cached))
    next_item = Row("**flakeid** `next(generator)`", timed("next(o)", o=generator))
    count_item = Row("`next(itertools.count(2**62))`", timed("next(o)", o=counter))
    time_ns = Row("`time.time_ns()`", timed("time.time_ns()", time=time))
    fast4 = Row("`uuid_utils.uuid4()`", timed("o.uuid4()", o=uuid_utils))
    fast7 = Row("`uuid_utils.uuid7()`", timed("o.uuid7()", o=uuid_utils))
    uuid4 = Row("`uuid.uuid4()`", timed("o.uuid4()", o=uuid))
    snow = Row("snowflake-id `next(generator)`", timed("next(o)", o=peer))
    fast = [next_system, next_coarse, next_local, next_cached]
    calls = [loop, least, counted, next_id, next_leased, *fast, next_item, count_item, time_ns]
    calls += [fast4, fast7, uuid4, snow]
    progress("single calls")
    measure(calls, rounds, span)

    bare_list = Row("a bare list of such ints", timed("o.list(1000)", o=floor), 1000)
    next_ids = Row("**flakeid** `next_ids(1000)`", timed("o.next_ids(1000)", o=generator), 1000)
    sliced = Row(
        "**flakeid** `list(islice(generator, 1000))`",
        timed("list(islice(o, 1000))", o=generator, islice=itertools.islice),
        1000,
    )
    snow_list = Row(
        "snowflake-id `list(islice(generator, 1000))`",
        timed("list(islice(o, 1000))", o=peer, islice=itertools.islice),
        1000,
    )
    lists = [bare_list, next_ids, sliced, snow_list]
    progress("lists")
    measure(lists, rounds, span)

    same_small = Row("numpy `array.fill(7)`", timed("o.fill(7)", o=small), 1000)
    rising_small = Row("native `base + i`", timed("o.fill(a)", o=floor, a=small), 1000)
    fill_small = Row("**flakeid** `fill(array)`", timed("o.fill(a)", o=arrays, a=small), 1000)
    of_1000 = [rising_small, same_small, fill_small]
    progress("arrays")
    measure(of_1000, rounds, span)

    same_large = Row("numpy `array.fill(7)`", timed("o.fill(7)", o=large), 1_000_000)
    rising_large = Row("native `base + i`", timed("o.fill(a)", o=floor, a=large), 1_000_000)
    fill_large = Row("**flakeid** `fill(array)`", timed("o.fill(a)", o=arrays, a=large), 1_000_000)
    of_million = [same_large, rising_large, fill_large]
    measure(of_million, rounds, span)

    progress("start-up")
    start_ups = starts(runs)

    assert waits == [one.stats().waits for one in ours], "a tick was full"
    cached.close()
    leased.close()
    versions = [
        f"{name} {importlib.metadata.version(name)}"
        for name in ("flakeid-core", "snowflake-id", "uuid_utils", "numpy")
    ]
    facts = [f"Python {platform.python_version()}; {', '.join(versions)}"]
    print(f"- {facts[0]}")
    report = Report()
    report.table("One ID", calls, least, "ns, loop included", parts=(loop, counted, count_item))
    report.table("A list of 1000", lists, bare_list, "ns an ID", parts=lists)
    report.table("numpy, 1000 numbers", of_1000, rising_small, "ns an ID", parts=of_1000)
    report.table("numpy, a million numbers", of_million, same_large, "ns an ID", parts=of_million)
    report.table("Start-up", start_ups, start_ups[0], "ms", OTHER, start_ups)
    print("\n## Targets\n\n| | target | here | met |\n|---|---|---:|---|")
    report.target("P1", "`local().next_id()` / P", ratio(next_local, least), 1.2)
    report.target("P1", "`next_id()` with `clock='coarse'` / P", ratio(next_coarse, least), 1.2)
    report.target("P2", "`next_id()` / P", ratio(next_id, least), 1.45)
    net = statistics.median(
        (a - c) / (b - c)
        for a, b, c in zip(next_id.samples, least.samples, loop.samples, strict=True)
    )
    print(f"| the same without the loop | | {net:.2f} | |")
    report.target("P2", "`next_id()` / its bound", ratio(next_id, counted), 1.2)
    report.target("P2", "`next_id()` / `time.time_ns()`", ratio(next_id, time_ns), 1.0)
    report.target("L1", "leased / fixed `next_id()`", ratio(next_leased, next_id), 1.05)
    report.target("Peers", "snowflake-id / `next_id()`", ratio(snow, next_id), 5, "at least")
    report.target(
        "Peers", "`uuid_utils.uuid7()` / `next_id()`", ratio(fast7, next_id), 2, "at least"
    )
    report.target("P3", "`next_ids(1000)` / bare list", ratio(next_ids, bare_list), 1.10)
    report.target("P4", "numpy `fill` of 1000 / `base + i`", ratio(fill_small, rising_small), 1.25)
    report.target(
        "P4", "numpy `fill` of 1 M / `array.fill(7)`", ratio(fill_large, same_large), 1.05
    )
    if file:
        data = {
            "suite": "Python",
            "facts": facts,
            "rows": report.rows,
            "targets": report.targets,
        }
        file.write_text(json.dumps(data, indent=2) + "\n")


def progress(what: str) -> None:
    print(f"python: measuring {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
