"""A panic inside the module raises an exception, and the process and its generators continue.

No argument makes the core panic. But a panic that has become an exception becomes a panic again
where Python code that the module calls raises it, and unwinds to the same border as any other.
"""

import datetime as dt
import signal
import threading

import numpy
import pytest

import flakeid
from flakeid import Layout

RESUMED = "resuming a panic"


@pytest.fixture
def panic() -> type[BaseException]:
    """Return the class, which no module exports. It exists after the extension's first error."""
    with pytest.raises(TypeError):
        flakeid.decode(None)
    classes = BaseException.__subclasses__()
    [found] = [known for known in classes if known.__module__ == "pyo3_runtime"]
    return found


@pytest.fixture
def bomb(panic):
    class Bomb:
        def __index__(self):
            raise panic("struck")

    return Bomb()


def test_panic_exception_is_not_an_exception_subclass(panic):
    assert panic.__name__ == "PanicException"
    assert not issubclass(panic, Exception)


@pytest.mark.parametrize(
    "call",
    [
        flakeid.decode,
        flakeid.to_bytes,
        flakeid.to_base62,
        flakeid.lower_bound,
        flakeid.ManualClock,
        Layout.parse("twitter").unpack,
        Layout.parse("twitter").tick_at,
        Layout.parse("twitter").with_epoch,
        lambda bomb: Layout.parse("twitter").pack(tick=1, node=bomb),
        lambda bomb: flakeid.Parts(1, 2, bomb),
        lambda bomb: flakeid.Generator(node=bomb),
        lambda bomb: flakeid.Generator(node=1, window=(0, bomb)),
    ],
)
def test_panic_raises_an_exception(panic, bomb, call, capfd):
    with pytest.raises(panic, match=r"^struck$"):
        call(bomb)
    assert RESUMED in capfd.readouterr().err


def test_generator_continues_after_panics(panic, bomb, generator, clock, capfd):
    first = generator.next_id()
    before = generator.stats(), clock.unix_ms
    calls = (generator.next_ids, generator.extend, clock.set)
    for _ in range(100):
        for call in calls:
            with pytest.raises(panic, match=r"^struck$"):
                call(bomb)
    assert capfd.readouterr().err.count(RESUMED) == 100 * len(calls)
    assert (generator.stats(), clock.unix_ms) == before
    assert generator.next_ids(3) == [first + 1, first + 2, first + 3]


def test_panic_in_a_time_zone_raises_an_exception(panic, capfd):
    class Zone(dt.tzinfo):
        def utcoffset(self, _when):
            raise panic("struck")

    with pytest.raises(panic, match=r"^struck$"):
        flakeid.upper_bound(dt.datetime(2026, 1, 1, tzinfo=Zone()))
    assert RESUMED in capfd.readouterr().err
    assert flakeid.upper_bound(dt.datetime(2026, 1, 1, tzinfo=dt.UTC)) > 0


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system does not support interval timers"
)
def test_generator_continues_after_a_panic_in_fill(panic, capfd):
    def strike(*_):
        raise panic("struck")

    generator = flakeid.Generator(node=35)
    numbers = numpy.zeros(8_000_000, numpy.uint64)
    previous = signal.signal(signal.SIGALRM, strike)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(panic, match=r"^struck$"):
            generator.fill(numbers)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert RESUMED in capfd.readouterr().err
    assert 0 < numpy.count_nonzero(numbers) < len(numbers)
    assert generator.next_id() > int(numbers.max())


def test_panic_in_another_thread_raises_there(panic, bomb, generator):
    first = generator.next_id()
    caught = []

    def strike():
        try:
            generator.next_ids(bomb)
        except panic as error:
            caught.append(type(error))

    threads = [threading.Thread(target=strike) for _ in range(4)]
    for thread in threads:
        thread.start()
    ids = generator.next_ids(1000)
    for thread in threads:
        thread.join()
    assert caught == [panic] * 4
    assert ids == list(range(first + 1, first + 1001))


def test_panic_in_a_direct_method_raises_an_exception(panic, generator, capfd):
    def strike(_):
        raise panic("struck")

    with flakeid.CachedGenerator(generator, on_rejected_take=strike) as ring:
        taken = []

        # The clock stands still, so the ring is never refilled.
        def take_until_struck():
            while True:
                taken.append(ring.take())

        with pytest.raises(panic, match=r"^struck$"):
            take_until_struck()
        with pytest.raises(panic, match=r"^struck$"):
            ring.take()
        assert capfd.readouterr().err.count(RESUMED) == 2
        assert taken == sorted(set(taken))
        assert ring.stats().rejected_take == 2
