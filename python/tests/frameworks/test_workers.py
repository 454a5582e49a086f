"""Workers of real servers, which must release their nodes when they end."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

#: The timeout in seconds, long enough for a busy machine.
TIMEOUT = 60


@pytest.fixture
def store(tmp_path):
    return f"sqlite://{tmp_path}/flakeid.db"


def nodes(store, namespace="default"):
    """Return the states of all nodes that were leased, and the IDs of their last holders."""
    run = [sys.executable, "-P", "-m", "flakeid", "leases", "ls", "--json", "--all"]
    run += ["--store", store, "--namespace", namespace]
    printed = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in printed.splitlines()]
    return {row["node"]: (row["state"], row["pid"]) for row in rows}


def held(store, namespace="default"):
    return {node for node, (state, _) in nodes(store, namespace).items() if state == "held"}


@contextmanager
def running(arguments, folder, **environment):
    """Run a server, and end it with SIGTERM."""
    with tempfile.TemporaryFile("w+", dir=folder) as log:
        server = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        )
        try:
            yield server
        except BaseException:
            log.seek(0)
            print(log.read())
            raise
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
                raise


def test_celery_pool_processes_release_their_nodes(redis, store, tmp_path, monkeypatch):
    tests = str(Path(__file__).parent)
    monkeypatch.setenv("FLAKEID_REDIS", redis)
    monkeypatch.syspath_prepend(tests)
    environment = {"FLAKEID_REDIS": redis, "FLAKEID_STORE": store, "PYTHONPATH": tests}
    with ExitStack() as workers:
        tasks = []
        # With --max-tasks-per-child, six processes run six tasks, and most of them end.
        for module, options in (
            ("celery_tasks", ("--max-tasks-per-child", "1")),
            ("lazy_celery_tasks", ()),
        ):
            # Each worker has a queue of its own.
            worker = ["-m", "celery", "-A", module, "worker", "--concurrency", "2", "-Q", module]
            workers.enter_context(running([*worker, *options], tmp_path, **environment))
            make = __import__(module).make
            tasks += [make.apply_async((100,), queue=module) for _ in range(6)]
        ids = [id for task in tasks for id in task.get(timeout=TIMEOUT)]
        assert len(set(ids)) == 1200
        assert len(held(store)) < 8
    found = nodes(store)
    assert {state for state, _ in found.values()} == {"free"}, found
    assert len({pid for _, pid in found.values()}) > 6


def fetch(port, count, server, path=""):
    """Request IDs from a server, which may still be starting."""
    ids, deadline = set(), time.monotonic() + TIMEOUT
    while len(ids) < count:
        assert server.poll() is None
        assert time.monotonic() < deadline
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{port}/{path}", timeout=TIMEOUT
            ) as answer:
                ids.add(json.load(answer)["id"])
        except OSError:
            time.sleep(0.05)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--preload", "--max-requests", "5"),
        ("--worker-class", "gthread", "--threads", "4"),
    ],
)
def test_gunicorn_workers_release_their_nodes(options, store, tmp_path, free_port):
    server = ["-m", "gunicorn", "--workers", "2", "--bind", f"127.0.0.1:{free_port}"]
    server += ["--no-control-socket", *options, "app:application"]
    environment = {"FLAKEID_STORE": store, "PYTHONPATH": str(EXAMPLES / "gunicorn")}
    with running(server, tmp_path, **environment) as process:
        fetch(free_port, 30, process)
        assert held(store, "orders")
    assert held(store, "orders") == set()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--lazy-apps",),
        ("--skip-atexit-teardown",),
    ],
)
def test_uwsgi_workers_release_their_nodes(options, store, tmp_path, free_port):
    server = ["-c", "import pyuwsgi; pyuwsgi.run()", "--http", f"127.0.0.1:{free_port}"]
    server += ["--master", "--processes", "2", "--die-on-term", *options]
    server += ["--module", "app:application"]
    environment = {"FLAKEID_STORE": store, "PYTHONPATH": str(EXAMPLES / "gunicorn")}
    with running(server, tmp_path, **environment) as process:
        fetch(free_port, 30, process)
        assert held(store, "orders")
    left = {pid for state, pid in nodes(store, "orders").values() if state == "held"}
    # The master, which imports the program unless --lazy-apps is set, runs no Python code when it
    # ends.
    assert left == (set() if "--lazy-apps" in options else {process.pid})


MOUNTED = """
from functools import cache

import flakeid

@cache
def generator():
    return flakeid.Generator(node=NODE, sequence_mask=0)

def application(_environ, start_response):
    # The second ID has to wait for its tick.
    first, second = generator().next_ids(2)
    assert first < second
    start_response("200 OK", [("Content-Type", "application/json")])
    return [b'{"id": "%d"}' % second]
"""


def mounted(folder, port):
    """Return the command for uWSGI with two applications, which get an interpreter each."""
    server = ["-c", "import pyuwsgi; pyuwsgi.run()", "--http-socket", f"127.0.0.1:{port}"]
    server += ["--master", "--die-on-term", "--manage-script-name"]
    for node in (1, 2):
        program = folder / f"mounted_{node}.py"
        program.write_text(MOUNTED.replace("NODE", str(node)))
        server += ["--mount", f"/{node}={program}"]
    return server


def test_uwsgi_with_an_interpreter_for_each_application_ends_with_the_way_out(tmp_path, free_port):
    run = [sys.executable, *mounted(tmp_path, free_port)]
    done = subprocess.run(run, check=False, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode != 0
    assert "set `single-interpreter = true` in uWSGI" in done.stderr, done.stderr


def test_applications_of_uwsgi_share_an_interpreter(tmp_path, free_port):
    server = [*mounted(tmp_path, free_port), "--single-interpreter"]
    with running(server, tmp_path) as process:
        for application in ("1/", "2/", "1/"):
            fetch(free_port, 3, process, application)
