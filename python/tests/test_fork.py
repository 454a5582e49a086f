"""A forked child never issues an ID of its parent."""

import multiprocessing
import os
import signal
import sys
import threading
import time

import pytest

import flakeid

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not support fork"),
    # Python warns about forks in processes with threads, which some tests do on purpose.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def in_child(body):
    """Return the result of `body` in a forked child as a string."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(body()).encode())
        except BaseException as error:  # noqa: BLE001 - reported to the parent
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    assert status == 0
    return told


def test_every_call_raises_forked_error_in_the_child():
    generator = flakeid.Generator(node=101)
    before = generator.next_id()

    def attempt():
        codes = set()
        for call in (
            generator.next_id,
            generator.try_next_id,
            generator.__next__,
            generator.retire,
            lambda: generator.next_ids(10),
            lambda: generator.next_ids(100_000),
            lambda: generator.fill(memoryview(bytearray(80)).cast("Q")),
            lambda: flakeid.Generator(node=101),
        ):
            try:
                codes.add(f"issued {call()}")
            except flakeid.ForkedError as error:
                codes.add(error.code)
        with generator:
            pass
        return codes

    assert in_child(attempt) == "{'FLAKEID_FORKED'}"
    assert generator.next_id() > before


def test_handles_and_rings_raise_forked_error_in_the_child():
    generator = flakeid.Generator(node=111)
    local, cached = generator.local(), flakeid.CachedGenerator(generator)
    before = [local.next_id(), cached.next_id()]

    def attempt():
        codes = set()
        for call in (
            local.next_id,
            local.__next__,
            cached.take,
            cached.next_id,
            lambda: generator.local().next_id(),
            lambda: flakeid.CachedGenerator(generator),
        ):
            try:
                codes.add(f"issued {call()}")
            except flakeid.ForkedError as error:
                codes.add(error.code)
        cached.close()
        return codes

    assert in_child(attempt) == "{'FLAKEID_FORKED'}"
    assert local.next_id() > before[0]
    assert cached.take() > before[1]
    cached.close()


def test_child_issues_ids_with_its_own_node():
    flakeid.Generator(node=102).next_id()
    id = int(in_child(lambda: flakeid.Generator(node=103).next_id()))
    assert flakeid.decode(id).node == 103


def test_grandchild_raises_forked_error():
    generator = flakeid.Generator(node=104)
    generator.next_id()
    told = in_child(lambda: in_child(generator.next_id))
    assert told.startswith("ForkedError: this node belongs to the parent process")


def test_fork_succeeds_while_threads_issue_ids():
    generator = flakeid.Generator(node=105)
    stop, mine = threading.Event(), []

    def work():
        while not stop.is_set():
            mine.extend(generator.next_ids(50))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            assert in_child(generator.next_id).startswith("ForkedError")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert len(mine) == len(set(mine)) > 0


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not list the threads of a process"
)
def test_child_forked_in_a_thread_ends_when_the_thread_returns(tmp_path):
    generator = flakeid.lease(f"sqlite://{tmp_path}/flakeid.db", window=3)
    forked = []

    def work():
        if pid := os.fork():
            forked.append(pid)
        else:
            generator.next_id()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    since = time.monotonic()
    while (ended := os.waitpid(forked[0], os.WNOHANG)) == (0, 0):
        if time.monotonic() - since > 20:
            os.kill(forked[0], signal.SIGKILL)
        time.sleep(0.01)
    assert ended == (forked[0], 0)
    generator.close()


inherited = flakeid.Generator(node=106)


def with_inherited(_):
    return inherited.next_id()


def with_own(node):
    generator = flakeid.Generator(node=node)
    return [generator.next_ids(1000) for _ in range(5)]


def test_multiprocessing_workers_raise_forked_error():
    inherited.next_id()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        with pytest.raises(flakeid.ForkedError) as error:
            pool.map(with_inherited, range(2))
        assert error.value.code == "FLAKEID_FORKED"
        lists = pool.map(with_own, [107, 108, 109, 110], chunksize=1)
    ids = [id for rounds in lists for ids in rounds for id in ids]
    assert len(ids) == len(set(ids)) == 20_000
    assert {flakeid.decode(id).node for id in ids} == {107, 108, 109, 110}
    inherited.next_id()


def test_generators_cannot_be_sent_to_other_processes():
    with (
        multiprocessing.get_context("fork").Pool(1) as pool,
        pytest.raises(TypeError, match="cannot be copied or pickled"),
    ):
        pool.apply(id, (inherited,))
