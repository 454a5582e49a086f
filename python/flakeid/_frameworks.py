"""Functions that the framework modules share: layout arguments, signed columns, IDs as strings."""

from typing import Final

from ._flakeid import Layout, PublicIds, decode, from_decimal, to_decimal
from .errors import InvalidIdError, InvalidOptionError

#: A key for `PublicIds` objects that only check a prefix. It need not be secret, because no ID is
#: sealed with it.
_NO_KEY: Final = "a " + 32 * "0"

_MOST_SIGNED: Final = 2**63 - 1


def layout_of(layout: Layout | str | None) -> Layout:
    """Return the layout that an argument describes; None means twitter."""
    return layout if isinstance(layout, Layout) else Layout.parse(layout or "twitter")


def signed(id: int) -> int:
    """Return the ID unchanged if it fits a signed column of 64 bits.

    Raises:
        InvalidIdError: the ID does not fit, which happens only in layouts of 64 bits.
        TypeError: the ID is not an int.
    """
    shown = to_decimal(id)
    if id > _MOST_SIGNED:
        raise InvalidIdError(
            f"id {shown} does not fit a signed column of 64 bits (at most {_MOST_SIGNED}): give the"
            " column a type for unsigned or decimal numbers, or use a layout of 63 bits"
        )
    return id


class IdText:
    """The string form of IDs: decimal digits with an optional prefix, or public IDs.

    Args:
        prefix: the beginning of each string, before an underscore: 1 to 16 lowercase letters and
            digits.
        layout: the layout of the IDs: a preset's name, a descriptor or a `Layout`. IDs with bits
            that the layout never sets are rejected.
        public_ids: the converter with which to write and read public IDs instead, with its own
            prefix and layout.

    Raises:
        InvalidOptionError: the prefix is invalid, or `public_ids` is combined with another option.
        InvalidLayoutError: `layout` is a string that does not describe a layout.
    """

    __slots__ = ("_layout", "_public_ids", "_start")

    def __init__(
        self,
        *,
        prefix: str | None = None,
        layout: Layout | str | None = None,
        public_ids: PublicIds | None = None,
    ) -> None:
        if public_ids is not None and (prefix is not None or layout is not None):
            raise InvalidOptionError(
                "public_ids: cannot be combined with prefix and layout; give them to PublicIds"
            )
        if prefix is not None:
            PublicIds(_NO_KEY, "prefix", prefix=prefix)  # checks the prefix
        self._start = "" if prefix is None else f"{prefix}_"
        self._layout = layout_of(layout)
        self._public_ids = public_ids

    def write(self, id: int) -> str:
        """Return the string form of an ID."""
        if self._public_ids is not None:
            return self._public_ids.seal(id)
        return self._start + to_decimal(id)

    def read(self, text: object) -> int:
        """Return the ID of a string.

        Raises:
            InvalidIdError: the value is anything else, such as a number, which a JSON parser may
                have rounded.
        """
        if not isinstance(text, str):
            refused = f"an ID must be a string here, such as {self.example}, not {_shown(text)}"
            if isinstance(text, int | float) and not isinstance(text, bool):
                refused += (
                    ": numbers of JSON lose their last digits in browsers, which keep 53 bits of 64"
                )
            raise InvalidIdError(refused)
        if self._public_ids is not None:
            return self._public_ids.open(text)
        if not text.startswith(self._start):
            raise InvalidIdError(
                f"{_shown(text)} is not an ID here: it must begin with {self._start!r}, as"
                f" {self.example} does"
            )
        return self.checked(from_decimal(text[len(self._start) :]))

    def checked(self, id: int) -> int:
        """Return the ID unchanged if the layout allows it.

        Raises:
            InvalidIdError: the ID has bits that the layout never sets.
            TypeError: the ID is not an int.
        """
        decode(id, self._layout if self._public_ids is None else self._public_ids.layout)
        return id

    @property
    def example(self) -> str:
        """An example of the string form, for messages and for API schemas."""
        layout = self._layout if self._public_ids is None else self._public_ids.layout
        return f"'{self.write(layout.pack(tick=layout.max_tick // 2, node=0))}'"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 64 else f"{shown[:64]}…"
