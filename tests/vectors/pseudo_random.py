"""SplitMix64: reproducible bits, which do not depend on the version of a library."""

from __future__ import annotations

from collections.abc import Iterator

from layout import U64_MAX


def splitmix64(seed: int) -> Iterator[int]:
    """Yield 64-bit words: the seed plus multiples of the golden ratio, mixed."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & U64_MAX
        word = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & U64_MAX
        word = (word ^ word >> 27) * 0x94D049BB133111EB & U64_MAX
        yield word ^ word >> 31
