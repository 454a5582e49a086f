"""Calls that wait under trio, gevent and FastAPI, whose other tasks must continue to run."""

import array
import asyncio
import socket
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import httpx2
import pytest
import trio

import flakeid

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

#: A layout whose ticks last 200 ms.
LONG_TICKS = "t38.n10.s12@1288834974657/200ms"


def test_calls_wait_on_the_event_loop_of_trio():
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            beats += 1
            await trio.sleep(0.01)

    async def run():
        generator = flakeid.Generator(node=1, layout=LONG_TICKS, sequence_mask=0, max_wait=30)
        numbers = array.array("Q", bytes(16))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(beat)
            ids = [await generator.next_id_async(), await generator.local().next_id_async()]
            ids += await generator.next_ids_async(2)
            assert await generator.fill_async(numbers) == 2
            nursery.cancel_scope.cancel()
        ids += numbers
        assert ids == sorted(set(ids))
        with trio.move_on_after(0.02) as scope:
            await generator.next_ids_async(100)
        assert scope.cancelled_caught
        return beats

    # Six IDs take five ticks.
    assert trio.run(run) > 20


GREENLETS = """
import array, sys
from gevent import monkey
monkey.patch_all()
import gevent
import flakeid

beats = 0

def beat():
    global beats
    while True:
        beats += 1
        gevent.sleep(0.01)

gevent.spawn(beat)
generator = flakeid.Generator(node=1, layout=sys.argv[1], sequence_mask=0, max_wait=30)
numbers = array.array("Q", bytes(16))
ids = [generator.next_id(), generator.local().next_id(), *generator.next_ids(2)]
assert generator.fill(numbers) == 2
ids += numbers
assert ids == sorted(set(ids)), ids
assert beats > 20, beats
ring = flakeid.CachedGenerator(generator)
before = beats
ids = [ring.next_id() for _ in range(4)]
assert ids == sorted(set(ids)), ids
assert beats > before + 10, (before, beats)
with gevent.Timeout(0.02, False):
    generator.next_ids(100)
    raise AssertionError("the timeout did not end the call")
assert generator.next_id() > ids[-1]
"""


def test_calls_let_other_greenlets_of_gevent_run():
    run = [sys.executable, "-P", "-c", GREENLETS, LONG_TICKS]
    subprocess.run(run, check=True, timeout=60)


def test_first_request_of_fastapi_leases_off_the_event_loop(monkeypatch):
    async def run():
        app = __import__("fastapi_ids").app
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            request = asyncio.create_task(client.post("/orders"))
            beats = [time.monotonic()]
            while not request.done():
                await asyncio.sleep(0.01)
                beats.append(time.monotonic())
            with pytest.raises(flakeid.StoreUnavailableError):
                await request
        return beats

    # A broker that never responds.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("FLAKEID_STORE", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.syspath_prepend(str(EXAMPLES))
        beats = asyncio.run(run())
    longest = max(later - sooner for sooner, later in pairwise(beats))
    assert longest < (beats[-1] - beats[0]) / 3
