"""Calls that wait for IDs without blocking the event loop: `await generator.next_id_async()`."""

from __future__ import annotations

from time import monotonic

from ._flakeid import CachedGenerator, Generator, LocalGenerator
from .errors import FlakeIdError

# Type checkers treat this name like typing.TYPE_CHECKING; importing typing takes milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Generator as Steps
    from typing import SupportsIndex, TypeVar

    from typing_extensions import Buffer

    _T = TypeVar("_T")


async def _result(poll: Callable[[float], _T | float]) -> _T:
    """Call `poll` until it returns a result instead of the seconds after which to call it again."""
    result = poll(0.0)
    if isinstance(result, float):
        # `import flakeid` does not load asyncio, which takes longer than flakeid itself.
        from asyncio import sleep  # noqa: PLC0415

        begun = monotonic()
        while isinstance(result, float):
            await sleep(result)
            result = poll(monotonic() - begun)
    return result


class _Turn:
    """Lets the event loop run other tasks between two pieces of a long call."""

    def __await__(self) -> Steps[None, None, None]:
        yield


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
        await _Turn()
        try:
            ids += await _result(poll)
        except FlakeIdError:
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
        await _Turn()
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
