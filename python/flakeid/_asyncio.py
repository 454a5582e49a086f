"""Calls that wait for IDs without blocking the event loop: `await generator.next_id_async()`."""

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, SupportsIndex, TypeVar

from ._flakeid import CachedGenerator, Generator, LocalGenerator
from .errors import FlakeIdError

if TYPE_CHECKING:
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


async def next_id_async(self: Generator | LocalGenerator | CachedGenerator) -> int:
    """Return the next ID like next_id, but wait without blocking the event loop.

    The call returns at once if it does not have to wait. Like next_id, it waits at most max_wait,
    and raises the same errors.
    """
    return await _result(self._poll_next_id)


async def next_ids_async(self: Generator, n: SupportsIndex) -> list[int]:
    """Return the next n IDs like next_ids, but wait without blocking the event loop."""
    ids = await _result(partial(self._poll_next_ids, n))
    while ids and len(ids) < n.__index__():
        try:
            ids += await _result(partial(self._poll_next_ids, n.__index__() - len(ids)))
        except FlakeIdError:
            break
    return ids


async def fill_async(self: Generator, buffer: "Buffer") -> int:
    """Fill an array like fill, but wait without blocking the event loop.

    Do not use the array until the call has returned.
    """
    filled = more = await _result(partial(self._poll_fill, buffer, 0))
    while more:
        try:
            more = await _result(partial(self._poll_fill, buffer, filled))
        except FlakeIdError:
            break
        filled += more
    return filled


for _class in (Generator, LocalGenerator, CachedGenerator):
    setattr(_class, next_id_async.__name__, next_id_async)
for _call in (next_ids_async, fill_async):
    setattr(Generator, _call.__name__, _call)
