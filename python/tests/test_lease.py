"""Tests of leased nodes, from an SQLite store in a temporary folder."""

import contextlib
import gc
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import numpy
import pytest

import flakeid


def node_of(id):
    return flakeid.decode(id).node


class Locked:
    """A store that does not respond, because another process has locked it."""

    PROGRAM = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""

    def __init__(self, url):
        self.path = url.removeprefix("sqlite://")

    def __enter__(self):
        run = [sys.executable, "-c", self.PROGRAM, self.path]
        self.process = subprocess.Popen(
            run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "locked\n"

    def __exit__(self, *_):
        with self.process:
            self.process.stdin.close()


def test_leased_generator_issues_ids_from_every_method(url):
    with flakeid.lease(url, namespace="orders") as generator:
        assert isinstance(generator, flakeid.Generator)
        numbers = numpy.zeros(200_000, numpy.uint64)
        ids = [generator.next_id(), generator.try_next_id(), next(generator)]
        ids += generator.next_ids(1000)
        assert generator.fill(numbers) == len(numbers)
        ids += numbers.tolist()
        filled = generator.try_fill(numbers[:10])
        ids += numbers[:filled].tolist()
        assert ids == sorted(set(ids))
        assert {node_of(id) for id in ids[:2000]} == {generator.node}
        assert generator.layout == flakeid.Layout.parse("twitter")
        assert generator.stats().rollbacks == 0
        assert repr(generator) == f"<Generator node={generator.node} layout=twitter leased>"


def test_two_leases_have_two_nodes(url):
    first, second = flakeid.lease(url, name="a"), flakeid.lease(url, name="b")
    assert first.node != second.node


def test_equal_options_share_a_lease(url):
    first, second = flakeid.lease(url), flakeid.lease(url)
    assert first.node == second.node
    assert first.next_id() < second.next_id() < first.next_id()
    first.close()
    id = second.next_id()
    assert node_of(id) == second.node


def test_lease_exposes_the_state_of_the_node(url):
    generator = flakeid.lease(url, ttl=timedelta(seconds=30), window=5)
    lease = generator.lease
    assert isinstance(lease, flakeid.Lease)
    assert 0 < lease.start < lease.fence
    assert lease.fence_time.tzinfo is UTC
    assert timedelta(0) < lease.fence_time - datetime.now(UTC) <= timedelta(seconds=5)
    assert timedelta(0) < lease.expires_in <= timedelta(seconds=30)
    assert abs(lease.expires - datetime.now(UTC) - lease.expires_in) < timedelta(seconds=10)
    assert (lease.grants, lease.renewals, lease.failures) == (1, 0, 0)
    assert lease.fenced_off is False
    assert lease.last_error is None
    assert repr(lease).startswith(f"Lease(start={lease.start}, fence={lease.fence}, ")
    with pytest.raises(AttributeError):
        lease.fence = 1


def test_fixed_generators_have_no_lease(generator):
    assert generator.lease is None


def test_lease_is_renewed_while_ids_are_issued(url):
    generator = flakeid.lease(url, window=0.1)
    ids, deadline = [], time.monotonic() + 30
    while generator.lease.renewals < 5:
        assert time.monotonic() < deadline
        ids += generator.next_ids(10)
        time.sleep(0.01)
    assert ids == sorted(set(ids))
    assert generator.lease.grants == 1


def test_close_releases_the_node(url):
    generator = flakeid.lease(url, nodes=(3, 3))
    node, status = generator.node, generator.lease
    with pytest.raises(flakeid.NoFreeNodeError) as error:
        flakeid.lease(url, nodes=(3, 3), name="other", max_wait=0)
    assert error.value.retry_after > 0
    generator.close()
    generator.close()
    for call in (
        generator.next_id,
        generator.try_next_id,
        generator.__next__,
        lambda: generator.next_ids(3),
        lambda: generator.next_ids(100_000),
        lambda: generator.fill(numpy.zeros(3, numpy.uint64)),
        lambda: generator.try_fill(numpy.zeros(3, numpy.uint64)),
        lambda: generator.try_fill(numpy.zeros(100_000, numpy.uint64)),
    ):
        with pytest.raises(flakeid.ClosedError):
            call()
    assert (generator.node, generator.lease.fence) == (node, status.fence)
    assert generator.stats().rollbacks == 0
    with flakeid.lease(url, nodes=(3, 3), name="other") as other:
        assert node_of(other.next_id()) == 3


def test_dropping_the_generator_releases_the_node(url):
    generator = flakeid.lease(url, nodes=(3, 3), on_event=lambda _: None)
    del generator
    gc.collect()
    assert flakeid.lease(url, nodes=(3, 3)).node == 3


def test_leased_generator_rejects_retire_and_extend(url):
    generator = flakeid.lease(url)
    for call in (generator.retire, lambda: generator.extend(1)):
        with pytest.raises(flakeid.InvalidOptionError, match="leased generator"):
            call()
    assert generator.next_id()


def test_lease_respects_node_range_and_name(url):
    assert flakeid.lease(url, node=77).node == 77
    assert flakeid.lease(url, datacenter=1, worker=2).node == 34
    assert flakeid.lease(url, nodes=(500, 501)).node in (500, 501)
    with flakeid.lease(url, name="sticky") as first:
        first.next_id()
    with flakeid.lease(url, name="sticky") as second:
        assert second.node == first.node


def test_nodes_are_leased_once_without_reuse(url):
    for node in (8, 9):
        with flakeid.lease(url, nodes=(8, 9), reuse=False) as generator:
            assert node_of(generator.next_id()) == node
    with pytest.raises(flakeid.NoFreeNodeError):
        flakeid.lease(url, nodes=(8, 9), reuse=False, max_wait=0)


def test_lease_uses_the_layout_of_the_namespace(url):
    with flakeid.lease(url, layout="plain", epoch=1_600_000_000_000) as generator:
        assert generator.layout == flakeid.Layout.parse("plain").with_epoch(1_600_000_000_000)
        id = generator.next_id()
    with pytest.raises(flakeid.StoreRejectedError, match="layout"):
        flakeid.lease(url, layout="twitter")
    assert generator.layout.unpack(id).node == generator.node


def test_leased_generator_respects_its_policies(url):
    generator = flakeid.lease(url, sequence_mask=0, overflow="error", sequence_start=0)

    def issue_many():
        for _ in range(100_000):
            generator.next_id()

    with pytest.raises(flakeid.SequenceExhaustedError):
        issue_many()
    assert flakeid.lease(url, rollback="wait", max_wait=5).next_id()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"namespace": ""}, flakeid.InvalidOptionError),
        ({"namespace": "a b"}, flakeid.InvalidOptionError),
        ({"namespace": 3}, TypeError),
        ({"name": ""}, flakeid.InvalidOptionError),
        ({"name": b"a"}, TypeError),
        ({"name": "a", "node": 1}, flakeid.InvalidOptionError),
        ({"node": 1, "worker": 1, "datacenter": 1}, flakeid.InvalidOptionError),
        ({"worker": 1}, flakeid.InvalidOptionError),
        ({"datacenter": 1}, flakeid.InvalidOptionError),
        ({"datacenter": 32, "worker": 1}, flakeid.FieldOutOfRangeError),
        ({"node": 1024}, flakeid.FieldOutOfRangeError),
        ({"node": -1}, flakeid.FieldOutOfRangeError),
        ({"node": True}, TypeError),
        ({"nodes": (2, 1)}, flakeid.FieldOutOfRangeError),
        ({"nodes": (0, 1024)}, flakeid.FieldOutOfRangeError),
        ({"nodes": (0,)}, TypeError),
        ({"nodes": 3}, TypeError),
        ({"layout": "nonsense"}, flakeid.InvalidLayoutError),
        ({"window": 0}, flakeid.FieldOutOfRangeError),
        ({"ttl": 0}, flakeid.FieldOutOfRangeError),
        ({"ttl": -1}, flakeid.InvalidOptionError),
        ({"max_wait": float("nan")}, flakeid.InvalidOptionError),
        ({"overflow": "later"}, flakeid.InvalidOptionError),
        ({"rollback": "clock-sequence"}, flakeid.InvalidOptionError),
        ({"sequence_mask": 2}, flakeid.InvalidOptionError),
        ({"sequence_start": 13}, flakeid.FieldOutOfRangeError),
        ({"reuse": 1}, TypeError),
        ({"on_event": 1}, TypeError),
        ({"clock": "exact"}, flakeid.InvalidOptionError),
        ({"clock": flakeid.ManualClock(0)}, TypeError),
    ],
)
def test_lease_rejects_invalid_options_without_a_store(tmp_path, options, error):
    with pytest.raises(error):
        flakeid.lease(f"sqlite://{tmp_path}/never.db", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "text", "field"),
    [
        (
            {"window": 0.001},
            "window 1 ms is out of range: must be from 2 to 2592000000 ms",
            "window",
        ),
        ({"ttl": 0}, "ttl 0 ms is out of range: must be from 1 to 2592000000 ms", "ttl"),
        ({"nodes": (0, 1024)}, "nodes[1] 1024 is out of range: must be from 0", "nodes[1]"),
        ({"node_count": 2, "name": "a"}, "cannot be combined with `name`, `node`", None),
    ],
    ids=str,
)
def test_messages_name_arguments(tmp_path, options, text, field):
    with pytest.raises(flakeid.FlakeIdError) as error:
        flakeid.lease(f"sqlite://{tmp_path}/never.db", **options)
    assert text in str(error.value)
    assert getattr(error.value, "field", None) == field


@pytest.mark.parametrize("url", ["", "nonsense", "ftp://host/x", "sqlite:", "\ud800://x", "a" * 99])
def test_lease_rejects_invalid_urls(url):
    with pytest.raises(flakeid.FlakeIdError):
        flakeid.lease(url, max_wait=0)


def test_lease_rejects_unusable_stores(tmp_path):
    (tmp_path / "text.db").write_text("not a database at all, but long enough to look at" * 100)
    with pytest.raises(flakeid.StoreError):
        flakeid.lease(f"sqlite://{tmp_path}/text.db", max_wait=0)
    with pytest.raises(TypeError, match="url must be a str"):
        flakeid.lease(tmp_path)


def test_lease_survives_an_outage_of_the_store(url):
    events = []
    generator = flakeid.lease(url, window=0.5, max_wait=0.05, on_event=events.append)
    ids = [generator.next_id()]
    deadline = time.monotonic() + 60

    def issue_until_refused():
        while time.monotonic() < deadline:
            ids.append(generator.next_id())
            time.sleep(0.001)

    with Locked(url):
        with pytest.raises(flakeid.LeaseExpiredError):
            issue_until_refused()
        while generator.lease.last_error is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert isinstance(generator.lease.last_error, flakeid.StoreUnavailableError)
    while True:
        try:
            ids.append(generator.next_id())
            break
        except flakeid.LeaseExpiredError:
            assert time.monotonic() < deadline
    assert ids == sorted(set(ids))
    assert generator.lease.failures > 0
    lost = [event for event in events if event.kind == "store-lost"]
    assert isinstance(lost[0].error, flakeid.StoreUnavailableError)
    assert "store-lost" in repr(lost[0])


def test_events_are_reported_on_another_thread(url):
    events, threads = [], set()

    def told(event):
        threads.add(threading.get_ident())
        events.append(event)

    with flakeid.lease(url, window=0.1, on_event=told) as generator:
        node, deadline = generator.node, time.monotonic() + 30
        while len(events) < 3:
            assert time.monotonic() < deadline
            generator.next_id()
    assert [event.kind for event in events[:2]] == ["acquired", "renewed"]
    assert events[-1].kind == "released"
    assert {event.node for event in events} == {node}
    assert events[0].start < events[0].fence < events[1].fence
    assert (events[1].start, events[-1].fence, events[0].error) == (None, None, None)
    assert threads.isdisjoint({threading.get_ident()})
    assert repr(events[-1]) == f"LeaseEvent(kind='released', node={node})"


def test_observer_exceptions_reach_the_unraisable_hook(url, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: raised.append(args.exc_value))

    def told(event):
        raise LookupError(event.kind)

    with flakeid.lease(url, on_event=told) as generator:
        assert generator.next_id()
    assert [type(error) for error in raised] == [LookupError, LookupError]
    assert [str(error) for error in raised] == ["acquired", "released"]


def test_observer_can_use_its_generator(url):
    told = threading.Event()

    def use(event):
        if event.kind == "renewed":
            use.ids = (generator.next_id(), generator.lease.renewals)
            told.set()

    generator = flakeid.lease(url, window=3, on_event=use)
    deadline = time.monotonic() + 30
    while not told.is_set():
        assert time.monotonic() < deadline
        generator.next_id()
    assert use.ids[0]
    assert use.ids[1] >= 1
    generator.close()


def test_close_ends_handles_and_rings_of_a_shared_lease(url):
    closed, other = flakeid.lease(url), flakeid.lease(url)
    assert closed.node == other.node
    local, cached = closed.local(), flakeid.CachedGenerator(closed)
    local.next_id()
    cached.next_id()
    closed.close()
    for call in (local.next_id, cached.next_id, cached.take, closed.next_id):
        with pytest.raises(flakeid.ClosedError):
            call()
    other.next_id()


def test_close_ends_calls_of_all_threads(url):
    generator = flakeid.lease(url)
    lists = [[] for _ in range(4)]
    ready = threading.Barrier(5)

    def work(ids):
        ready.wait()
        try:
            while True:
                ids.append(generator.next_id())
                ids.extend(generator.next_ids(5))
        except flakeid.ClosedError:
            pass

    threads = [threading.Thread(target=work, args=(ids,)) for ids in lists]
    for thread in threads:
        thread.start()
    ready.wait()
    time.sleep(0.1)
    generator.close()
    for thread in threads:
        thread.join()
    together = [id for ids in lists for id in ids]
    assert len(together) == len(set(together)) > 0


class AlarmError(Exception):
    pass


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system does not support interval timers"
)
def test_signals_interrupt_waiting_calls(url):
    def interrupt(*_):
        raise AlarmError

    generator = flakeid.lease(url, window=0.3, max_wait=0.1)

    def issue_until_alarm():
        signal.setitimer(signal.ITIMER_REAL, 1)
        while True:
            with contextlib.suppress(flakeid.LeaseExpiredError):
                generator.next_id()

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Locked(url), pytest.raises(AlarmError):
            issue_until_alarm()
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(AlarmError):
            generator.fill(numpy.zeros(8_000_000, numpy.uint64))
    finally:
        signal.signal(signal.SIGALRM, previous)


@pytest.mark.parametrize("count", [None, 1000])
def test_waiting_call_releases_the_gil(url, count):
    generator = flakeid.lease(url, window=0.3, max_wait=1)
    beats, done = [], threading.Event()

    def beat():
        while not done.wait(0.005):
            beats.append(time.monotonic())

    def issue_until_refused():
        while True:
            generator.next_id() if count is None else generator.next_ids(count)

    thread = threading.Thread(target=beat)
    with Locked(url):
        thread.start()
        with pytest.raises(flakeid.LeaseExpiredError):
            issue_until_refused()
        refused = time.monotonic()
    done.set()
    thread.join()
    # The last call waited for most of a second.
    assert sum(refused - 0.4 < at < refused for at in beats) > 10


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"window": 3600}, "window 3600000 ms is out of range"),
        ({"ttl": 0}, "ttl 0 ms is out of range"),
        ({"max_wait": -1}, "max_wait: must be"),
        ({"nodes": (5, 1)}, "nodes[0] 5 is out of range"),
        ({"node_count": 3}, "node_count: 3 must be"),
    ],
)
def test_messages_of_leases_name_options_as_python_does(url, options, text):
    with pytest.raises(flakeid.FlakeIdError) as error:
        flakeid.lease(url, **options)
    assert str(error.value).startswith(text)
