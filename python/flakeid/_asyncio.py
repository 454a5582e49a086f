"""Calls that wait for IDs without blocking the event loop: `await generator.next_id_async()`."""

from __future__ import annotations

import sys
from time import monotonic

from ._flakeid import CachedGenerator, Generator, LocalGenerator
from .errors import FlakeIdError

# Type checkers treat this name like typing.TYPE_CHECKING; importing typing takes milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex, TypeVar

    from typing_extensions import Buffer

    _T = TypeVar("_T")


async def _pause(seconds: float) -> None:
    """Wait on the event loop that runs this task, which may belong to asyncio or to trio.

    Raises:
        RuntimeError: No such event loop runs this task.
    """
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            pass
        else:
            await trio.sleep(seconds)
            return
    # `import flakeid` does not load asyncio, which takes longer than flakeid itself.
    import asyncio  # noqa: PLC0415

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            "this call has to wait, which requires the event loop of asyncio or trio; elsewhere,"
            " such as under gevent, call next_id(), next_ids() or fill()"
        ) from None
    await asyncio.sleep(seconds)


async def _result(poll: Callable[[float], _T | float]) -> _T:
    """Call `poll` until it returns a result instead of the seconds after which to call it again."""
    result = poll(0.0)
    if isinstance(result, float):
        begun = monotonic()
        while isinstance(result, float):
            await _pause(result)
            result = poll(monotonic() - begun)
    return result


async def next_id_async(self: Generator | LocalGenerator | CachedGenerator) -> int:
    """Return the next ID like next_id, but wait without blocking the event loop.

    The call returns at once if it does not have to wait. Like next_id, it waits at most max_wait,
    and raises the same errors.
    """
    id: int = await _result(self._poll_next_id)
    return id


async def next_ids_async(self: Generator, n: SupportsIndex) -> list[int]:
    """Return the next n IDs like next_ids, but wait without blocking the event loop."""
    ids = await _result(lambda waited: self._poll_next_ids(n, waited))

    def poll(waited: float) -> list[int] | float:
        return self._poll_next_ids(n.__index__() - len(ids), waited)

    while ids and len(ids) < n.__index__():
        # Without a loop that it knows, the pause fails. The IDs that were issued must not be lost.
        try:
            await _pause(0)
            ids += await _result(poll)
        except (FlakeIdError, RuntimeError):
            break
    return ids


async def fill_async(self: Generator, buffer: Buffer) -> int:
    """Fill an array like fill, but wait without blocking the event loop.

    Do not use the array until the call has returned.
    """
    filled = 0

    def poll(waited: float) -> int | float:
        return self._poll_fill(buffer, filled, waited)

    more: int = await _result(poll)
    filled = more
    while more:
        await _pause(0)
        try:
            more = await _result(poll)
        except FlakeIdError:
            break
        filled += more
    return filled


for _class in (Generator, LocalGenerator, CachedGenerator):
    setattr(_class, next_id_async.__name__, next_id_async)
for _call in (next_ids_async, fill_async):
    setattr(Generator, _call.__name__, _call)
