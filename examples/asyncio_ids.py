"""Requests IDs in a coroutine. Waiting for an ID does not block the event loop."""

import asyncio
import os

import flakeid

url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")


async def main() -> None:
    # Opening a lease blocks until the store responds, so it runs in a thread.
    generator = await asyncio.to_thread(flakeid.lease, url, namespace="orders")
    try:
        first, *others = await asyncio.gather(*(generator.next_id_async() for _ in range(1000)))
        assert len({first, *others}) == 1000
        print(first, flakeid.decode(first).timestamp)
    finally:
        await asyncio.to_thread(generator.close)


asyncio.run(main())
