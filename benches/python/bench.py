"""flakeid next to the Python packages it competes with, in one run. Prints Markdown.

Rows of a table are sampled in turn, each once a round and each round beginning with another row; a
ratio is that of two rows of the same round, and the median of the rounds is printed. See README.md.
"""

import argparse
import importlib.metadata
import itertools
import platform
import statistics
import time
import uuid

import flakeid
import flakeid_floor
import numpy
import snowflake
import uuid_utils

# No tick of these fills up, or the layout's ceiling would be measured; IDs are above 2^62, like the
# floor's.
PER_CALL = "t41.n1.s21@0/1ms"
PER_ARRAY = "t30.s33@1104537600000/1s"

TEMPLATE = """
def run(count):
    numbers = repeat(None, count)
    start = clock()
    for _ in numbers:
        {statement}
    return clock() - start
"""


def timed(statement, **names):
    """What runs a statement so many times and returns the nanoseconds, the loop's own included."""
    scope = {"repeat": itertools.repeat, "clock": time.perf_counter_ns}
    # Names as locals of a closure, as in a function of the user's.
    body = TEMPLATE.format(statement=statement).replace("\n", "\n    ")
    exec(f"def make({', '.join(names)}):\n    {body}\n    return run", scope)
    return scope["make"](**names)


class Row:
    def __init__(self, name, run, ids=1):
        self.name, self.run, self.ids, self.samples = name, run, ids, []

    def calibrate(self, nanoseconds):
        self.count = 1
        while (took := self.run(self.count)) < nanoseconds / 8:
            self.count *= 2
        self.count = max(1, int(self.count * nanoseconds / took))

    def sample(self):
        self.samples.append(self.run(self.count) / self.count / self.ids)


def measure(rows, rounds, nanoseconds):
    for row in rows:
        row.calibrate(nanoseconds)
    for turn in range(rounds):
        for index in range(len(rows)):
            rows[(turn + index) % len(rows)].sample()


def ratio(row, other):
    return statistics.median(a / b for a, b in zip(row.samples, other.samples, strict=True))


def table(title, rows, floor, unit):
    print(f"\n## {title}\n\n| | {unit} | ratio |\n|---|---:|---:|")
    for row in rows:
        print(f"| {row.name} | {statistics.median(row.samples):.2f} | {ratio(row, floor):.2f} |")


def target(text, found, limit, wanted="at most"):
    met = found <= limit if wanted == "at most" else found >= limit
    print(f"| {text} | {wanted} {limit:.2f} | {found:.2f} | {'yes' if met else 'NO'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run; its figures mean little")
    quick = parser.parse_args().quick
    rounds, span = (3, 1_000_000) if quick else (41, 20_000_000)

    floor = flakeid_floor.Floor()
    generator = flakeid.Generator(node=1, layout=PER_CALL)
    arrays = flakeid.Generator(layout=PER_ARRAY)
    peer = snowflake.SnowflakeGenerator(1)
    counter = itertools.count(2**62)
    small, large = numpy.zeros(1000, numpy.uint64), numpy.zeros(1_000_000, numpy.uint64)
    for one in (generator, arrays):
        one.next_id()
    waits = [one.stats().waits for one in (generator, arrays)]

    loop = Row("the loop itself", timed("pass"))
    least = Row("**P**: an empty pyo3 method that returns an int", timed("o.one()", o=floor))
    next_id = Row("**flakeid** `next_id()`", timed("o.next_id()", o=generator))
    next_item = Row("**flakeid** `next(generator)`", timed("next(o)", o=generator))
    count_item = Row("`next(itertools.count(2**62))`", timed("next(o)", o=counter))
    time_ns = Row("`time.time_ns()`", timed("time.time_ns()", time=time))
    fast4 = Row("`uuid_utils.uuid4()`", timed("o.uuid4()", o=uuid_utils))
    fast7 = Row("`uuid_utils.uuid7()`", timed("o.uuid7()", o=uuid_utils))
    uuid4 = Row("`uuid.uuid4()`", timed("o.uuid4()", o=uuid))
    snow = Row("snowflake-id `next(generator)`", timed("next(o)", o=peer))
    calls = [loop, least, next_id, next_item, count_item, time_ns, fast4, fast7, uuid4, snow]
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
    measure(lists, rounds, span)

    same_small = Row("numpy `array.fill(7)`", timed("o.fill(7)", o=small), 1000)
    rising_small = Row("native `base + i`", timed("o.fill(a)", o=floor, a=small), 1000)
    fill_small = Row("**flakeid** `fill(array)`", timed("o.fill(a)", o=arrays, a=small), 1000)
    of_1000 = [rising_small, same_small, fill_small]
    measure(of_1000, rounds, span)

    same_large = Row("numpy `array.fill(7)`", timed("o.fill(7)", o=large), 1_000_000)
    rising_large = Row("native `base + i`", timed("o.fill(a)", o=floor, a=large), 1_000_000)
    fill_large = Row("**flakeid** `fill(array)`", timed("o.fill(a)", o=arrays, a=large), 1_000_000)
    of_million = [same_large, rising_large, fill_large]
    measure(of_million, rounds, span)

    assert waits == [one.stats().waits for one in (generator, arrays)], "a tick was full"
    versions = [
        f"{name} {importlib.metadata.version(name)}"
        for name in ("flakeid-core", "snowflake-id", "uuid_utils", "numpy")
    ]
    print(f"# Python {platform.python_version()}: {', '.join(versions)}")
    table("One ID", calls, least, "ns, loop included")
    table("A list of 1000", lists, bare_list, "ns an ID")
    table("numpy, 1000 numbers", of_1000, rising_small, "ns an ID")
    table("numpy, a million numbers", of_million, same_large, "ns an ID")
    print("\n## Targets\n\n| | target | here | met |\n|---|---|---:|---|")
    target("`next_id()` / P", ratio(next_id, least), 2.2)
    net = statistics.median(
        (a - c) / (b - c)
        for a, b, c in zip(next_id.samples, least.samples, loop.samples, strict=True)
    )
    print(f"| the same without the loop | | {net:.2f} | |")
    target("`next_id()` / `time.time_ns()`", ratio(next_id, time_ns), 1.0)
    target("snowflake-id / `next_id()`", ratio(snow, next_id), 5, "at least")
    target("`uuid_utils.uuid7()` / `next_id()`", ratio(fast7, next_id), 2, "at least")
    target("`next_ids(1000)` / bare list", ratio(next_ids, bare_list), 1.10)
    target("numpy `fill` of 1000 / `base + i`", ratio(fill_small, rising_small), 1.25)
    target("numpy `fill` of 1 M / `array.fill(7)`", ratio(fill_large, same_large), 1.05)


if __name__ == "__main__":
    main()
