"""Tests of LocalGenerator, a generator's handle for one thread at a time."""

import copy
import gc
import pickle
import threading
import time

import numpy
import pytest

import flakeid


@pytest.fixture(params=["fixed", "leased"])
def source(request, url):
    return flakeid.Generator(node=71) if request.param == "fixed" else flakeid.lease(url)


def test_ids_are_distinct_and_increase_in_several_threads(source):
    lists = [[] for _ in range(5)]

    def work(ids):
        local = source.local()
        ids.extend(local.next_id() for _ in range(50_000))

    def plainly(ids):
        for _ in range(100):
            ids.extend(source.next_ids(100))

    threads = [threading.Thread(target=work, args=(ids,)) for ids in lists[:4]]
    threads.append(threading.Thread(target=plainly, args=(lists[4],)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ids in lists:
        assert ids == sorted(ids)
    together = [id for ids in lists for id in ids]
    assert len(together) == len(set(together)) == 210_000
    assert {flakeid.decode(id).node for id in together} == {source.node}


def test_handle_can_be_passed_between_threads(source):
    """Any thread may call the handle, as long as no two calls overlap."""
    local, lists = source.local(), [[] for _ in range(4)]
    ready, refused = threading.Barrier(4), []

    def work(ids):
        ready.wait()
        while len(ids) < 20_000:
            try:
                ids.append(local.next_id())
            except RuntimeError as error:
                # Another thread waits for a tick in a call of the handle.
                refused.append(str(error))

    threads = [threading.Thread(target=work, args=(ids,)) for ids in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = [id for ids in lists for id in ids]
    assert len(together) == len(set(together)) == 80_000
    assert all(ids == sorted(ids) for ids in lists)
    assert all("in use by another thread" in text for text in refused)


def test_call_fails_while_another_thread_waits():
    generator = flakeid.Generator(
        node=72, layout="t38.n16.s9@1409529600000/500ms", sequence_mask=0, max_wait=5
    )
    local, ids = generator.local(), []
    ids.append(local.next_id())
    thread = threading.Thread(target=lambda: ids.extend(local.next_id() for _ in range(3)))
    thread.start()
    refused, beats = [], 0
    while thread.is_alive():
        try:
            ids.append(local.next_id())
        except RuntimeError as error:
            refused.append(str(error))
        beats += 1
        time.sleep(0.005)
    thread.join()
    # The other thread released the GIL while it waited.
    assert len(refused) > 10
    assert beats > 10
    assert all("in use by another thread" in message for message in refused)
    ids.append(local.next_id())
    assert len(ids) == len(set(ids))


def test_handle_is_iterable_and_exposes_its_generator(source):
    local = source.local()
    assert local.generator is source
    assert iter(local) is local
    first = next(local)
    assert [id for id, _ in zip(local, range(3), strict=False)] > [first]
    assert repr(local) == f"{source!r}.local()"


def test_handle_keeps_its_generator_alive(url):
    """The handle keeps its generator alive, and dropping the handle releases the node."""
    local = flakeid.lease(url, nodes=(3, 3)).local()
    gc.collect()
    assert flakeid.decode(local.next_id()).node == 3
    del local
    gc.collect()
    with flakeid.lease(url, nodes=(3, 3), name="other", max_wait=0) as other:
        assert other.node == 3


def test_handle_raises_closed_error_after_generator_closes(source):
    local = source.local()
    local.next_id()
    source.close()
    for call in (local.next_id, local.__next__, source.local().next_id):
        with pytest.raises(flakeid.ClosedError):
            call()


def test_handle_follows_a_manual_clock(generator, clock):
    local = generator.local()
    ids = [local.next_id() for _ in range(300)]
    clock.advance(0.001)
    ids.extend(local.next_id() for _ in range(300))
    assert ids == sorted(set(ids))
    assert {flakeid.decode(id).unix_ms for id in ids[300:]} == {clock.unix_ms}
    clock.set(clock.unix_ms - 60_000)
    assert local.next_id() > ids[-1]


def test_handle_stays_usable_after_errors(clock):
    generator = flakeid.Generator(node=1, clock=clock, sequence_mask=0, overflow="error")
    local = generator.local()
    local.next_id()
    for _ in range(3):
        with pytest.raises(flakeid.SequenceExhaustedError):
            local.next_id()
    clock.advance(0.001)
    assert flakeid.decode(local.next_id()).unix_ms == clock.unix_ms


def test_handle_respects_the_window(clock):
    tick = flakeid.Layout.parse("twitter").tick_at(clock.unix_ms)
    generator = flakeid.Generator(
        node=1, clock=clock, window=(tick, tick + 2), max_ahead=0, max_wait=0.001
    )
    local = generator.local()
    issued = []

    def issue_until_refused():
        while True:
            issued.append(local.next_id())

    with pytest.raises(flakeid.LeaseExpiredError):
        issue_until_refused()
    assert max(flakeid.decode(id).tick for id in issued) < tick + 2
    generator.extend(tick + 5)
    assert local.next_id() > issued[-1]


def test_handle_continues_after_renewals(url):
    generator = flakeid.lease(url, window=0.1)
    local, ids, deadline = generator.local(), [], time.monotonic() + 30
    while generator.lease.renewals < 3:
        assert time.monotonic() < deadline
        ids.extend(local.next_id() for _ in range(100))
        time.sleep(0.01)
    assert (numpy.diff(numpy.array(ids, numpy.uint64)) > 0).all()


def test_handles_cannot_be_copied_or_created_directly(source):
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="LocalGenerator"):
            attempt(source.local())
    with pytest.raises(TypeError):
        flakeid.LocalGenerator()
    with pytest.raises(AttributeError):
        source.local().generator = source
