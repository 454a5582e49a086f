import contextlib
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy
import pytest

import flakeid


def run(*bodies):
    with ThreadPoolExecutor(len(bodies)) as threads:
        for running in [threads.submit(body) for body in bodies]:
            running.result()


def test_threads_issue_distinct_ids():
    generator = flakeid.Generator(node=21)
    lists = [[] for _ in range(6)]

    def one_by_one(ids):
        ids.extend(generator.next_id() for _ in range(20_000))

    def in_lists(ids):
        for _ in range(200):
            ids.extend(generator.next_ids(100))

    def in_arrays(ids):
        numbers = numpy.zeros(100_000, numpy.uint64)
        for _ in range(5):
            assert generator.fill(numbers) == len(numbers)
            ids.extend(numbers.tolist())

    bodies = (one_by_one, one_by_one, in_lists, in_lists, in_arrays, in_arrays)
    run(*(lambda body=body, ids=ids: body(ids) for body, ids in zip(bodies, lists, strict=True)))
    for ids in lists:
        assert ids == sorted(ids)
    together = [id for ids in lists for id in ids]
    assert len(together) == len(set(together)) == 1_080_000


def beats_during(wait):
    """Return how often another thread ran during the call of `wait`."""
    beats, done = [], threading.Event()

    def beat():
        while not done.is_set():
            beats.append(time.monotonic())
            time.sleep(0.005)

    def waiting():
        try:
            beats.clear()
            wait()
        finally:
            done.set()

    run(beat, waiting)
    return len(beats)


def slow_generator(node):
    """Return a generator of two IDs a second, which waits for nearly every ID."""
    return flakeid.Generator(
        node=node, layout="t38.n16.s9@1409529600000/500ms", sequence_mask=0, max_wait=5
    )


def test_waiting_call_releases_the_gil():
    generator = slow_generator(31)
    generator.next_id()
    assert beats_during(generator.next_id) > 10
    assert beats_during(lambda: next(generator)) > 10
    assert beats_during(lambda: generator.next_ids(2)) > 20
    assert beats_during(lambda: generator.fill(numpy.zeros(2, numpy.uint64))) > 20


def test_long_fill_releases_the_gil():
    generator = flakeid.Generator(node=32)
    numbers = numpy.zeros(2_000_000, numpy.uint64)
    assert beats_during(lambda: generator.fill(numbers)) > 10
    assert beats_during(lambda: generator.next_ids(2_000_000)) > 10


def test_long_list_lets_other_threads_run(clock):
    # A tick has more IDs than the list, so that the call does not wait.
    layout = "t36.n3.s24@1288834974657/1000ms"
    generator = flakeid.Generator(node=3, layout=layout, clock=clock)
    beats, done = [time.monotonic()], threading.Event()

    def beat():
        while not done.is_set():
            time.sleep(0.001)
            beats.append(time.monotonic())

    def generate():
        try:
            begun = time.monotonic()
            assert len(generator.next_ids(8_000_000)) == 8_000_000
            return time.monotonic() - begun
        finally:
            done.set()

    with ThreadPoolExecutor(2) as threads:
        threads.submit(beat)
        took = threads.submit(generate).result()
    longest = max(later - sooner for sooner, later in pairwise(beats))
    assert longest < took / 3, (longest, took)


def test_retire_ends_the_call_of_another_thread():
    generator = slow_generator(33)
    generator.next_id()
    outcome = []

    def wait():
        with contextlib.suppress(flakeid.ClosedError):
            outcome.extend(generator.next_ids(100))

    def retire():
        time.sleep(0.6)
        generator.retire()

    run(wait, retire)
    assert len(outcome) < 10


class AlarmError(Exception):
    pass


def interrupt(call, after=0.05):
    """Interrupt a call, and return the seconds from the signal to the exception."""

    def handler(*_):
        raise AlarmError

    previous = signal.signal(signal.SIGALRM, handler)
    try:
        begun = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, after)
        with pytest.raises(AlarmError):
            call()
        return time.monotonic() - begun - after
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


with_timers = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system does not support interval timers"
)


@with_timers
def test_signals_interrupt_long_fills():
    generator = flakeid.Generator(node=34)
    numbers = numpy.zeros(8_000_000, numpy.uint64)
    assert interrupt(lambda: generator.fill(numbers)) < 1
    assert generator.next_id() > int(numbers.max())


@with_timers
def test_signals_interrupt_waits_for_long_ticks():
    hours = flakeid.Generator(node=1, layout="t30.n8.s8@0/3600s", sequence_mask=0)
    local = hours.local()
    seconds = flakeid.Generator(node=1, layout="t36.n8.s8@0/1s", sequence_mask=0)
    # One ID for each second, for which a call waits twenty times.
    twenty = numpy.zeros(20, numpy.uint64)
    ring = flakeid.CachedGenerator(flakeid.Generator(node=2, layout="t36.n8.s8@0/1s"))
    for call in (
        hours.next_id,
        hours.__next__,
        local.next_id,
        lambda: hours.fill(twenty),
        lambda: seconds.fill(twenty),
        lambda: seconds.next_ids(20),
        lambda: [ring.next_id() for _ in range(2000)],
    ):
        assert interrupt(call) < 0.5
    ring.close()
