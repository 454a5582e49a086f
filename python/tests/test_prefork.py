r"""One leased generator, created before the fork, in many processes: each leases its own node.

FLAKEID_TEST_PREFORK_IDS is the number of IDs that the tests with gunicorn and multiprocessing
generate (default: 5 million each). To generate 10 million:

    FLAKEID_TEST_PREFORK_IDS=10000000 python -m pytest python/tests/test_prefork.py -s -v \
        -k "gunicorn or multiprocessing_fork"

The tests print the number of IDs and processes that they compared.
"""

import http.client
import importlib.util
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest

import flakeid

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not support fork"),
    # Python warns about forks in processes with threads, which these tests do on purpose.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

MANY = int(os.environ.get("FLAKEID_TEST_PREFORK_IDS", "5_000_000"))
#: The timeout in seconds, long enough for a busy machine.
TIMEOUT = 60 + MANY // 50_000
PIECE = 65_536


def nodes_of(ids):
    return set(numpy.unique((ids >> 12) & 1023).tolist())


def check(of_process, others):
    """Check that each process has a node of its own, and that all IDs are distinct."""
    seen = nodes_of(others)
    for ids in of_process.values():
        (node,) = nodes_of(ids)
        assert node not in seen
        seen.add(node)
    everything = numpy.concatenate([others, *of_process.values()])
    everything.sort()
    duplicates = numpy.count_nonzero(everything[1:] == everything[:-1])
    print(f"{len(everything)} IDs of {len(of_process)} children, {duplicates} duplicates")
    assert duplicates == 0
    return len(everything)


def numbers(generator, count):
    ids = numpy.zeros(count, numpy.uint64)
    assert generator.fill(ids) == count
    return ids


def in_child(body):
    """Return the bytes that `body` returns in a forked child, which exits like an interpreter."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(body())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0
    return numpy.frombuffer(told, numpy.uint64)


def test_forked_child_leases_its_own_node(url):
    generator = flakeid.lease(url)
    before = numbers(generator, 1000)
    renewals = generator.lease.renewals

    def child():
        unknown = generator.lease
        assert (unknown.grants, unknown.fence_time, unknown.expires_in) == (0, None, None)
        ids = [generator.next_id(), *generator.next_ids(10), next(generator)]
        assert generator.lease.grants == 1
        assert flakeid.decode(ids[0]).node == generator.node
        ids += numbers(generator, 100_000).tolist()
        generator.close()
        with pytest.raises(flakeid.ClosedError):
            generator.next_id()
        return numpy.array(ids, numpy.uint64).tobytes()

    of_child = in_child(child)
    mine = numpy.concatenate([before, numbers(generator, 100_000)])
    check({"child": of_child}, mine)
    assert generator.lease.grants == 1
    assert generator.lease.renewals >= renewals


def test_handles_and_rings_continue_in_the_child(url):
    generator = flakeid.lease(url)
    told = []
    local = generator.local()
    cached = flakeid.CachedGenerator(generator, on_rejected_put=told.append)

    def some():
        ids = [local.next_id() for _ in range(1000)]
        ids += [cached.next_id() for _ in range(1000)]
        ids += [generator.local().next_id()]
        return numpy.array(ids, numpy.uint64)

    mine = some()

    def child():
        ids = some()
        grandchild = in_child(lambda: some().tobytes())
        check({"grandchild": grandchild}, ids)
        cached.close()
        with pytest.raises(flakeid.ClosedError):
            cached.take()
        return numpy.concatenate([ids, grandchild]).tobytes()

    of_child = in_child(child)
    mine = numpy.concatenate([mine, some()])
    assert nodes_of(mine) == {generator.node}
    assert nodes_of(of_child).isdisjoint(nodes_of(mine))
    everything = numpy.concatenate([mine, of_child])
    assert len(numpy.unique(everything)) == len(everything) == 4 * 2001
    cached.close()


def test_close_in_a_child_releases_only_its_node(url):
    generator = flakeid.lease(url, nodes=(0, 1))
    generator.next_id()

    def child():
        generator.next_id()
        generator.close()
        return b""

    in_child(child)
    assert generator.next_id()
    with flakeid.lease(url, nodes=(0, 1), name="other") as other:
        assert other.node != generator.node
        with pytest.raises(flakeid.NoFreeNodeError):
            flakeid.lease(url, nodes=(0, 1), name="third", max_wait=0)


def test_child_without_ids_leases_no_node(url):
    generator = flakeid.lease(url, nodes=(0, 0))
    in_child(lambda: generator.close() or b"")
    assert flakeid.decode(generator.next_id()).node == 0


def test_grandchild_leases_its_own_node(url):
    generator = flakeid.lease(url)
    mine = numbers(generator, 10)

    def child():
        ids = numbers(generator, 10)
        grandchild = in_child(lambda: numbers(generator, 10).tobytes())
        check({"grandchild": grandchild}, ids)
        return numpy.concatenate([ids, grandchild]).tobytes()

    both = in_child(child)
    assert nodes_of(both).isdisjoint(nodes_of(mine))
    assert len(nodes_of(both)) == 2


def test_node_of_a_child_is_its_own_before_its_first_id(url):
    generator = flakeid.lease(url)
    generator.next_id()

    def child():
        assert repr(generator) == "<Generator node=None layout=twitter leased>"
        node = generator.node
        assert generator.nodes == [node]
        return numpy.array([generator.next_id(), node], numpy.uint64).tobytes()

    id, node = in_child(child).tolist()
    assert flakeid.decode(id).node == node
    assert node != generator.node


def test_fork_succeeds_while_threads_issue_ids(url):
    events = []
    generator = flakeid.lease(url, window=0.1, max_wait=30, on_event=events.append)
    stop, mine = threading.Event(), []

    def work():
        while not stop.is_set():
            mine.append(numbers(generator, 500))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        children = {turn: in_child(lambda: numbers(generator, 500).tobytes()) for turn in range(10)}
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    everything = numpy.concatenate([*mine, *children.values()])
    assert len(numpy.unique(everything)) == len(everything)
    assert all(nodes_of(ids).isdisjoint(nodes_of(mine[0])) for ids in children.values())


inherited = None


def make(count):
    ids = numpy.concatenate([numbers(inherited, PIECE) for _ in range(count)])
    return os.getpid(), ids.tobytes()


def gathered(answers):
    of_process = {}
    for pid, told in answers:
        of_process.setdefault(pid, []).append(numpy.frombuffer(told, numpy.uint64))
    return {pid: numpy.concatenate(lists) for pid, lists in of_process.items()}


def test_forked_pool_processes_issue_distinct_ids(url):
    global inherited  # noqa: PLW0603 - the processes of the pool inherit it
    inherited = flakeid.lease(url, nodes=(0, 4), max_wait=30)
    mine = numbers(inherited, PIECE)
    pieces = -(-MANY // PIECE)
    with multiprocessing.get_context("fork").Pool(4) as pool:
        answers = pool.map(make, [1] * pieces, chunksize=1)
        pool.close()
        pool.join()
    mine = numpy.concatenate([mine, numbers(inherited, PIECE)])
    assert check(gathered(answers), mine) >= MANY
    # The processes that ended released their nodes: all nodes but this process's are free.
    others = [flakeid.lease(url, nodes=(0, 4), name=f"{n}", max_wait=0) for n in range(4)]
    assert inherited.node not in {other.node for other in others}


SPAWN = """
import multiprocessing, sys
import flakeid

def make(url):
    return flakeid.lease(url, max_wait=30).next_ids(1000)

if __name__ == "__main__":
    url = sys.argv[1]
    generator = flakeid.lease(url)
    ids = generator.next_ids(1000)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        try:
            pool.apply(make, (generator,))
        except TypeError as error:
            assert "cannot be copied or pickled" in str(error)
        else:
            raise AssertionError("the generator was pickled")
        for list in pool.map(make, [url] * 6, chunksize=1):
            assert flakeid.decode(list[0]).node != generator.node
            ids += list
    assert len(set(ids)) == 7000
"""


def test_spawned_pool_processes_issue_distinct_ids(url, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SPAWN)
    subprocess.run([sys.executable, "-P", str(program), url], check=True, timeout=60)


LAZY = """
import multiprocessing, sys

def make(url):
    global generator
    import flakeid
    generator = flakeid.lease(url, max_wait=30)
    return generator.next_ids(10)

if __name__ == "__main__":
    method, url = sys.argv[1:]
    with multiprocessing.get_context(method).Pool(2) as pool:
        lists = pool.map(make, [url] * 4, chunksize=1)
        pool.close()
        pool.join()
    assert len({id for ids in lists for id in ids}) == 40
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pool_processes_that_import_flakeid_late_release_their_nodes(url, tmp_path, method):
    program = tmp_path / "program.py"
    program.write_text(LAZY)
    subprocess.run([sys.executable, "-P", str(program), method, url], check=True, timeout=60)
    run = [sys.executable, "-P", "-m", "flakeid", "leases", "ls", "--json", "--store", url]
    assert subprocess.run(run, check=True, capture_output=True).stdout == b""


class Gunicorn:
    """A gunicorn server with --preload and eight workers, on a socket of this process."""

    def __init__(self, url, folder):
        if importlib.util.find_spec("gunicorn") is None:
            pytest.fail("gunicorn is missing: pip install -e './python[test]'")
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        number = self.socket.fileno()
        run = [sys.executable, "-P", "-m", "gunicorn", "--preload", "--workers", "8"]
        run += ["--bind", f"fd://{number}", "--pythonpath", str(Path(__file__).parent)]
        run += ["--worker-tmp-dir", str(folder), "--no-control-socket", "prefork_app:application"]
        self.log = (folder / "gunicorn.log").open("w+")
        environment = {**os.environ, "FLAKEID_STORE": url}
        self.process = subprocess.Popen(
            run, pass_fds=(number,), stderr=self.log, env=environment, cwd=folder
        )

    def fetch(self, count):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/?{count}")
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status == 200, self.said()
        return int(answer.headers["X-Pid"]), body, int(answer.headers["X-First"])

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        self.socket.close()
        self.log.close()


def test_gunicorn_workers_issue_distinct_ids(url, tmp_path):
    answers, firsts, deadline = [], set(), time.monotonic() + TIMEOUT
    with Gunicorn(url, tmp_path) as server, ThreadPoolExecutor(12) as threads:
        while len(answers) * PIECE < MANY or len({pid for pid, _ in answers}) < 8:
            assert time.monotonic() < deadline, server.said()
            assert server.process.poll() is None, server.said()
            for pid, body, first in threads.map(server.fetch, [PIECE] * 24):
                answers.append((pid, body))
                firsts.add(first)
    assert len(firsts) == 1
    of_process = gathered(answers)
    assert len(of_process) == 8
    assert check(of_process, numpy.array(list(firsts), numpy.uint64)) >= MANY
    # The master and the workers released their nodes.
    again = [flakeid.lease(url, nodes=(0, 8), name=f"{n}", max_wait=0) for n in range(9)]
    assert len({generator.node for generator in again}) == 9
