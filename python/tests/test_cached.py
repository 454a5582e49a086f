"""Tests of CachedGenerator, a ring buffer of IDs generated in advance."""

import copy
import gc
import subprocess
import sys
import threading
import time

import pytest

import flakeid

SECONDS = "t34.n8.s21@1409529600000/1s"


@pytest.fixture(params=["fixed", "leased"])
def source(request, url):
    return flakeid.Generator(node=81) if request.param == "fixed" else flakeid.lease(url)


def test_ids_are_distinct_and_increase_in_several_threads(source):
    lists = [[] for _ in range(4)]
    with flakeid.CachedGenerator(source) as cached:

        def work(ids):
            ids.extend(cached.next_id() for _ in range(30_000))

        def take(ids):
            while len(ids) < 30_000:
                try:
                    ids.append(cached.take())
                except flakeid.RingEmptyError as error:
                    time.sleep(error.retry_after)

        threads = [
            threading.Thread(target=body, args=(ids,))
            for body, ids in zip((work, take, work, take), lists, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = cached.stats()
    for ids in lists:
        assert ids == sorted(ids)
    together = [id for ids in lists for id in ids]
    assert len(together) == len(set(together)) == 120_000
    assert {flakeid.decode(id).node for id in together} == {source.node}
    assert stats.taken == 120_000
    assert 0 <= stats.size <= cached.capacity
    assert set(source.next_ids(10)).isdisjoint(together)


def test_ring_keeps_its_bounds_of_capacity():
    generator = flakeid.Generator(node=1, layout=SECONDS)
    with flakeid.CachedGenerator(generator, boost_power=0) as cached:
        assert cached.capacity == 1 << 20
        first = cached.take()
        stats = cached.stats()
        assert stats.taken == 1
        assert stats.size <= cached.capacity - 1
        assert (stats.dropped_stale, stats.rejected_put, stats.rejected_take) == (0, 0, 0)
        assert next(cached) > first
    twitter = flakeid.Generator(node=82)
    for power, capacity in ((0, 4096), (3, 32_768), (20, 1 << 20)):
        with flakeid.CachedGenerator(twitter, boost_power=power) as cached:
            assert cached.capacity == capacity


def test_stale_ids_are_dropped_and_counted(clock):
    generator = flakeid.Generator(node=2, clock=clock)
    with flakeid.CachedGenerator(generator, max_age=0.5) as cached:
        first = cached.next_id()
        size = cached.stats().size
        assert size > 1000
        clock.advance(10)
        id = cached.next_id()
        assert id > first
        assert clock.unix_ms - flakeid.decode(id).unix_ms <= 500
        assert cached.stats().dropped_stale >= size
    assert generator.next_id() > id


def test_empty_ring_reports_rejected_takes(clock):
    told, ids = [], []
    generator = flakeid.Generator(node=3, clock=clock, sequence_mask=3, overflow="error")
    with flakeid.CachedGenerator(generator, on_rejected_take=told.append) as cached:

        def take_until_refused():
            while True:
                ids.append(cached.take())

        with pytest.raises(flakeid.RingEmptyError) as error:
            take_until_refused()
        assert len(ids) == len(set(ids)) >= 4
        assert error.value.retry_after > 0
        assert cached.stats().rejected_take == len(told) == 1
        assert isinstance(told[0], flakeid.RingEmptyError)
        assert cached.stats().taken == len(ids)


def test_ring_reports_rejected_puts_on_its_thread():
    told, threads = [], set()

    def rejected(error):
        threads.add(threading.get_ident())
        told.append(error)

    generator = flakeid.Generator(node=4, layout=SECONDS, window=window_of(SECONDS, 2))
    deadline = time.monotonic() + 30
    with flakeid.CachedGenerator(
        generator, boost_power=0, refill_interval=0.01, max_age=2, on_rejected_put=rejected
    ) as cached:
        while not told:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert {type(error) for error in told} == {flakeid.LeaseExpiredError}
        assert cached.stats().rejected_put >= len(told)
        assert threading.get_ident() not in threads


def window_of(layout, ticks):
    now = flakeid.Layout.parse(layout).tick_at(time.time_ns() // 1_000_000)
    return now, now + ticks


@pytest.mark.parametrize("closing", ["close", "del", "exit"])
def test_closing_while_a_handler_waits_for_the_gil(closing):
    """The destructor waits for a thread that needs the GIL, so the destructor must not hold it."""
    generator = flakeid.Generator(node=5, layout=SECONDS, window=window_of(SECONDS, 2))
    called = threading.Event()

    def rejected(_):
        called.set()
        for _ in range(1000):
            time.sleep(0)

    for _ in range(20):
        try:
            cached = flakeid.CachedGenerator(
                generator, boost_power=0, refill_interval=0.001, on_rejected_put=rejected
            )
        except flakeid.LeaseExpiredError:
            break
        called.wait(0.05)
        if closing == "close":
            cached.close()
        elif closing == "exit":
            with cached:
                pass
        del cached
        gc.collect()


def test_handler_exceptions_reach_the_unraisable_hook(clock, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: raised.append(args.exc_value))

    def rejected(error):
        raise LookupError(error.code)

    generator = flakeid.Generator(node=6, clock=clock, sequence_mask=0, overflow="error")
    cached = flakeid.CachedGenerator(generator, on_rejected_take=rejected)

    def take_until_refused():
        while True:
            cached.take()

    with cached, pytest.raises(flakeid.RingEmptyError):
        take_until_refused()
    assert [str(error) for error in raised] == ["FLAKEID_RING_EMPTY"]


def test_handler_can_use_and_close_its_ring(clock):
    told = []

    def rejected(error):
        told.append((error.code, cached.stats().rejected_take, cached.generator.node))
        cached.close()

    generator = flakeid.Generator(node=7, clock=clock, sequence_mask=0, overflow="error")
    cached = flakeid.CachedGenerator(generator, on_rejected_take=rejected)

    def take_until_refused():
        while True:
            cached.take()

    with pytest.raises(flakeid.FlakeIdError):
        take_until_refused()
    assert told == [("FLAKEID_RING_EMPTY", 1, 7)]
    with pytest.raises(flakeid.ClosedError):
        cached.take()


def test_calls_raise_closed_error_after_ring_closes(source):
    cached = flakeid.CachedGenerator(source)
    ids = [cached.take(), cached.next_id(), next(cached)]
    cached.close()
    cached.close()
    for call in (cached.take, cached.next_id, cached.__next__):
        with pytest.raises(flakeid.ClosedError):
            call()
    assert cached.stats().taken == 3
    assert cached.capacity > 0
    # The generator can still be used.
    assert source.next_id() > ids[-1]


def test_calls_raise_closed_error_after_generator_closes(source):
    cached = flakeid.CachedGenerator(source)
    cached.take()
    source.close()
    for call in (cached.take, cached.next_id):
        with pytest.raises(flakeid.ClosedError):
            call()
    assert cached.stats().rejected_take == 0
    cached.close()


def test_close_ends_calls_of_all_threads(source):
    cached, lists = flakeid.CachedGenerator(source), [[] for _ in range(4)]
    ready = threading.Barrier(5)

    def work(ids):
        ready.wait()
        try:
            while True:
                ids.append(cached.next_id())
        except flakeid.ClosedError:
            pass

    threads = [threading.Thread(target=work, args=(ids,)) for ids in lists]
    for thread in threads:
        thread.start()
    ready.wait()
    time.sleep(0.1)
    cached.close()
    for thread in threads:
        thread.join()
    together = [id for ids in lists for id in ids]
    assert len(together) == len(set(together)) > 0
    # Calls that were waiting may have taken an ID meanwhile.
    assert 0 <= len(together) - cached.stats().taken <= len(threads)


def test_waiting_call_releases_the_gil():
    generator = flakeid.Generator(
        node=83, layout="t38.n16.s9@1409529600000/500ms", sequence_mask=0, max_wait=5
    )
    beats, done = [], threading.Event()

    def beat():
        while not done.wait(0.005):
            beats.append(time.monotonic())

    with flakeid.CachedGenerator(generator, boost_power=0) as cached:
        thread = threading.Thread(target=beat)
        thread.start()
        ids = [cached.next_id() for _ in range(4)]
        done.set()
        thread.join()
        assert cached.stats().rejected_take == 0
    assert ids == sorted(set(ids))
    assert len(beats) > 20


def test_ring_exposes_generator_capacity_and_stats(source):
    with flakeid.CachedGenerator(source) as cached:
        assert cached.generator is source
        assert iter(cached) is cached
        assert repr(cached) == f"<CachedGenerator capacity=32768 generator={source!r}>"
        with pytest.raises(TypeError, match="CachedGenerator"):
            copy.copy(cached)
    stats = cached.stats()
    assert stats == cached.stats()
    assert repr(stats).startswith(f"RingStats(size={stats.size}, taken=0, ")
    with pytest.raises(AttributeError):
        stats.size = 1


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"boost_power": 21}, flakeid.FieldOutOfRangeError, "boost_power .* 0 to 20"),
        ({"boost_power": -1}, flakeid.FieldOutOfRangeError, "boost_power .* 0 to 20"),
        ({"boost_power": 1 << 40}, flakeid.FieldOutOfRangeError, "boost_power .* 0 to 20"),
        ({"boost_power": 1 << 70}, flakeid.FieldOutOfRangeError, "boost_power .* 0 to 20"),
        ({"padding_factor": 0}, flakeid.FieldOutOfRangeError, "padding_factor .* 1 to 99"),
        ({"padding_factor": 100}, flakeid.FieldOutOfRangeError, "padding_factor .* 1 to 99"),
        ({"padding_factor": 1 << 33}, flakeid.FieldOutOfRangeError, "padding_factor .* 1 to 99"),
        ({"refill_interval": 0}, flakeid.InvalidOptionError, "refill_interval"),
        ({"refill_interval": -1}, flakeid.InvalidOptionError, "refill_interval"),
        ({"max_age": 0}, flakeid.FlakeIdError, "max_age"),
        ({"max_age": float("nan")}, flakeid.InvalidOptionError, "max_age"),
        ({"boost_power": 1.0}, TypeError, "boost_power must be an int, not float"),
        ({"padding_factor": True}, TypeError, "padding_factor must be an int, not bool"),
        ({"max_age": "1"}, TypeError, "max_age must be seconds"),
        ({"on_rejected_put": 1}, TypeError, "on_rejected_put must be callable, not int"),
        ({"on_rejected_take": "f"}, TypeError, "on_rejected_take must be callable, not str"),
        ({"size": 1}, TypeError, "unexpected keyword argument 'size'"),
    ],
    ids=str,
)
def test_ring_rejects_invalid_options(generator, options, error, text):
    with pytest.raises(error, match=text):
        flakeid.CachedGenerator(generator, **options)


def test_ring_rejects_unsupported_generators(clock):
    for wrong in (None, 7, flakeid.Generator, clock):
        with pytest.raises(TypeError, match="generator must be a Generator, not"):
            flakeid.CachedGenerator(wrong)
    switching = flakeid.Generator(
        node=1, layout="t38.c2.n12.s11@1409529600000/1ms", clock=clock, rollback="clock-sequence"
    )
    with pytest.raises(flakeid.InvalidOptionError, match="clock-sequence"):
        flakeid.CachedGenerator(switching)


END = """
import flakeid, sys, time
layout = "t34.n8.s21@1409529600000/1s"
now = flakeid.Layout.parse(layout).tick_at(time.time_ns() // 1_000_000)
generator = flakeid.Generator(node=1, layout=layout, window=(now, now + int(sys.argv[2])))
rings = [
    flakeid.CachedGenerator(
        generator, boost_power=0, refill_interval=0.001, max_age=60, on_rejected_put=lambda _: None
    )
    for _ in range(4)
]
print(rings[0].take())
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("seconds", "window"),
    [("0", "60"), ("2.2", "2")],
    ids=["within the window", "after the window"],
)
def test_interpreter_exits_with_an_open_ring(seconds, window):
    done = subprocess.run(
        [sys.executable, "-P", "-c", END, seconds, window],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0
