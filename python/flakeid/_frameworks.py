"""What the types for frameworks share: layouts as arguments, signed columns, and IDs as text."""

from typing import Final

from ._flakeid import Layout, PublicIds, decode, from_decimal, to_decimal
from .errors import InvalidIdError, InvalidOptionError

#: For public IDs that only check a prefix. It is no secret: nothing is sealed with it.
_NO_KEY: Final = "a " + 32 * "0"

_MOST_SIGNED: Final = 2**63 - 1


def layout_of(layout: Layout | str | None) -> Layout:
    """The layout of an argument."""
    return layout if isinstance(layout, Layout) else Layout.parse(layout or "twitter")


def signed(id: int) -> int:
    """The same ID, which fits.

    Raises:
        InvalidIdError: it does not fit, which happens in layouts of 64 bits only.
        TypeError: it is not an int.
    """
    shown = to_decimal(id)
    if id > _MOST_SIGNED:
        raise InvalidIdError(
            f"id {shown} does not fit a signed column of 64 bits (at most {_MOST_SIGNED}): give the"
            " column a type for unsigned or decimal numbers, or use a layout of 63 bits"
        )
    return id


class IdText:
    """What an ID is outside a program: digits, with a prefix if there is one; or its public form.

    Args:
        prefix: what the text begins with, before an underscore: 1 to 16 lower-case letters and
            digits.
        layout: the layout of the IDs, a preset's name, a descriptor or a `Layout`. IDs with bits
            that it never sets are refused on the way in.
        public_ids: writes and opens the IDs instead. It has a prefix and a layout of its own.

    Raises:
        InvalidOptionError: a prefix that cannot be, or `public_ids` beside another option.
        InvalidLayoutError: a text that is not a layout.
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
                "public_ids: prefix and layout cannot stand beside it; give them to PublicIds"
            )
        if prefix is not None:
            PublicIds(_NO_KEY, "prefix", prefix=prefix)  # has the rule for prefixes
        self._start = "" if prefix is None else f"{prefix}_"
        self._layout = layout_of(layout)
        self._public_ids = public_ids

    def write(self, id: int) -> str:
        """The text of an ID."""
        if self._public_ids is not None:
            return self._public_ids.seal(id)
        return self._start + to_decimal(id)

    def read(self, text: object) -> int:
        """The ID of a text.

        Raises:
            InvalidIdError: anything else, also a number, which a reader of JSON may have rounded.
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
        """The same ID.

        Raises:
            InvalidIdError: it has bits that the layout never sets.
            TypeError: it is not an int.
        """
        decode(id, self._layout if self._public_ids is None else self._public_ids.layout)
        return id

    @property
    def example(self) -> str:
        """What such a text looks like, for people and for descriptions of interfaces."""
        layout = self._layout if self._public_ids is None else self._public_ids.layout
        return f"'{self.write(layout.pack(tick=layout.max_tick // 2, node=0))}'"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 64 else f"{shown[:64]}…"
