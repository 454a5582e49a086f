"""Calls that wait for IDs on an event loop, which must continue to run during the wait."""

import array
import asyncio
import inspect
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import flakeid

#: A layout whose ticks last 200 ms.
LONG_TICKS = "t38.n10.s12@1288834974657/200ms"

#: The longest time in seconds for which a call may block the event loop.
LONGEST_STALL = 0.05


def preempted():
    """Return the seconds for which this thread was ready to run while other threads ran."""
    stat = Path("/proc/thread-self/schedstat")
    return int(stat.read_text().split()[1]) / 1e9 if stat.exists() else 0.0


class Stall:
    """The longest time for which the event loop was blocked, except by other programs."""

    def __init__(self):
        self.longest = 0.0

    async def __aenter__(self):
        self.task = asyncio.create_task(self.watch())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_):
        # A last round of the task measures the calls since the previous round.
        await asyncio.sleep(0.02)
        self.task.cancel()

    async def watch(self):
        while True:
            begun, before = time.monotonic(), preempted()
            await asyncio.sleep(0.005)
            stalled = time.monotonic() - begun - 0.005 - (preempted() - before)
            self.longest = max(self.longest, stalled)


def small(**options):
    """Return a generator with one ID for each tick of 200 ms."""
    return flakeid.Generator(node=1, layout=LONG_TICKS, sequence_mask=0, max_wait=2, **options)


def test_async_calls_of_all_handles_return_increasing_ids(url):
    async def run(generator):
        ids = [await generator.next_id_async(), *await generator.next_ids_async(10_000)]
        numbers = array.array("Q", bytes(8 * 150_000))
        assert await generator.fill_async(numbers) == len(numbers)
        ids += numbers
        assert await generator.next_ids_async(0) == []
        assert await generator.fill_async(array.array("Q")) == 0
        assert ids == sorted(set(ids))
        with flakeid.CachedGenerator(generator) as ring:
            of_ring = [await ring.next_id_async() for _ in range(20_000)]
        assert of_ring == sorted(set(of_ring))
        local = generator.local()
        of_local = [await local.next_id_async() for _ in range(20_000)]
        assert of_local == sorted(set(of_local))
        assert len({*ids, *of_ring, *of_local}) == len(ids) + 40_000

    asyncio.run(run(flakeid.Generator(node=31)))
    with flakeid.lease(url) as leased:
        asyncio.run(run(leased))


def test_async_calls_are_coroutine_functions():
    for call in (
        flakeid.Generator.next_id_async,
        flakeid.Generator.next_ids_async,
        flakeid.Generator.fill_async,
        flakeid.LocalGenerator.next_id_async,
        flakeid.CachedGenerator.next_id_async,
    ):
        assert inspect.iscoroutinefunction(call)


def test_waits_for_full_ticks_do_not_block_the_loop():
    async def run():
        generator = small()
        async with Stall() as stall:
            ids = await asyncio.gather(*(generator.next_id_async() for _ in range(5)))
            ids += await generator.next_ids_async(2)
            numbers = array.array("Q", bytes(16))
            assert await generator.fill_async(numbers) == 2
        ids += numbers
        assert len({generator.layout.unpack(id).tick for id in ids}) == 9
        assert stall.longest < LONGEST_STALL

    asyncio.run(run())


def test_long_calls_let_other_tasks_run():
    async def run():
        # A tick of this layout has more IDs than the calls request.
        generator = flakeid.Generator(node=1, layout="t36.n3.s24@1288834974657/1000ms")
        await generator.next_id_async()
        turns = 0

        async def count():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(count())
        assert len(await generator.next_ids_async(400_000)) == 400_000
        assert turns > 4
        assert await generator.fill_async(array.array("Q", bytes(8 * 400_000))) == 400_000
        assert turns > 8
        task.cancel()

    asyncio.run(run())


def test_cancelled_call_ends_at_once():
    async def run():
        generator = small()
        await generator.next_id_async()
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(generator.next_ids_async(100), 0.02)
        assert time.monotonic() - begun < 0.15
        assert await generator.next_id_async() > 0

    asyncio.run(run())


def test_async_calls_wait_at_most_max_wait(clock):
    async def run():
        # The clock stands still, so that no wait succeeds.
        options = {"node": 1, "clock": clock, "sequence_mask": 0}
        for generator, least, most in (
            (flakeid.Generator(**options, max_wait=0.1), 0.09, 0.5),
            (flakeid.Generator(**options, max_wait=30, overflow="error"), 0, 0.05),
        ):
            # Clocks that stand still share no position.
            generator.next_id()
            for call in (generator.next_id_async(), generator.next_ids_async(5)):
                begun = time.monotonic()
                with pytest.raises(flakeid.SequenceExhaustedError):
                    await call
                assert least <= time.monotonic() - begun < most

    asyncio.run(run())


def test_async_calls_report_errors_at_once():
    async def run():
        generator = flakeid.Generator(node=32, max_wait=30)
        ring = flakeid.CachedGenerator(generator)
        local = generator.local()
        with pytest.raises(flakeid.FieldOutOfRangeError):
            await generator.next_ids_async(-1)
        with pytest.raises(TypeError):
            await generator.fill_async(bytearray(8))
        ring.close()
        generator.close()
        for call in (
            generator.next_id_async(),
            generator.next_ids_async(1),
            generator.fill_async(array.array("Q", [0])),
            local.next_id_async(),
            ring.next_id_async(),
        ):
            with pytest.raises(flakeid.ClosedError):
                await call

    asyncio.run(run())


def test_async_calls_that_wait_without_an_event_loop_name_the_other_calls():
    generator = small()
    generator.next_id()
    call = generator.next_id_async()
    with pytest.raises(RuntimeError, match=r"asyncio or trio; .* gevent, call next_id\(\)"):
        call.send(None)


def test_ring_reports_an_empty_ring_once(clock):
    refused = []

    async def run():
        generator = flakeid.Generator(node=1, clock=clock, sequence_mask=1, max_wait=0.1)
        ring = flakeid.CachedGenerator(generator, on_rejected_take=refused.append)
        while True:
            await ring.next_id_async()

    with pytest.raises(flakeid.FlakeIdError):
        asyncio.run(run())
    assert len(refused) == 1


class Broker:
    """A broker: the command of this package, in another process."""

    def __init__(self, url):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.store = url
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self):
        run = [sys.executable, "-P", "-m", "flakeid", "serve", "--store", self.store]
        run += ["--listen", f"127.0.0.1:{self.port}", "--log-level", "error"]
        self.process = subprocess.Popen(run)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
            except OSError:
                assert self.process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            else:
                return

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()


async def responses(generator, until, callers=5):
    """Let callers request IDs at the same time, again and again, until the given time."""
    ids, errors = [], []

    async def request():
        try:
            ids.append(await generator.next_id_async())
        except flakeid.FlakeIdError as error:
            errors.append(error)

    while time.monotonic() < until:
        await asyncio.gather(*(request() for _ in range(callers)))
        await asyncio.sleep(0.05)
    return ids, errors


#: The length of the outage in seconds, of which the window covers a third.
OUTAGE = float(os.environ.get("FLAKEID_TEST_OUTAGE", "1.5"))


def test_outage_of_the_store_does_not_block_the_loop(url):
    async def run(broker):
        window = OUTAGE / 3
        generator = flakeid.lease(broker.url, window=window, max_wait=min(1, window / 2))
        async with Stall() as stall:
            ids, errors = await responses(generator, time.monotonic() + window / 2)
            assert ids
            assert not errors
            broker.kill()
            more, errors = await responses(generator, time.monotonic() + OUTAGE)
            assert more
            assert {type(error) for error in errors} == {flakeid.LeaseExpiredError}
            assert all(error.retry_after > 0 for error in errors)
            # While renewals are known to fail, even a call that blocks the loop returns at once.
            for _ in range(5):
                with pytest.raises(flakeid.LeaseExpiredError):
                    generator.next_id()
            await asyncio.to_thread(broker.start)
            after, _ = await responses(generator, time.monotonic() + 2 * window)
            assert after
            everything = ids + more + after
            assert len(set(everything)) == len(everything)
        print(f"{len(everything)} IDs, {len(errors)} errors, stall {stall.longest * 1000:.1f} ms")
        assert stall.longest < LONGEST_STALL

    with Broker(url) as broker:
        asyncio.run(run(broker))


def test_async_calls_wait_for_a_renewal(url):
    """A short outage ends before max_wait, so no call fails."""

    async def run(broker):
        generator = flakeid.lease(broker.url, window=0.3, max_wait=30)
        generator.next_id()
        async with Stall() as stall:
            broker.kill()
            await asyncio.sleep(0.5)
            calls = [asyncio.create_task(generator.next_id_async()) for _ in range(5)]
            await asyncio.to_thread(broker.start)
            ids = await asyncio.gather(*calls)
        assert len(set(ids)) == 5
        assert stall.longest < LONGEST_STALL

    with Broker(url) as broker:
        asyncio.run(run(broker))
