"""The exceptions of flakeid, each with the code that every language uses for it."""

from __future__ import annotations

# As typing has it for type checkers, without the milliseconds that its import takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class FlakeIdError(Exception):
    """Base of what flakeid raises, besides the built-in TypeError and BufferError."""

    #: The same word in every language: FLAKEID_…
    code: ClassVar[str]
    #: After how many seconds the same call may succeed; None where waiting does not help.
    retry_after: float | None = None


class InvalidLayoutError(FlakeIdError, ValueError):
    """A layout's fields, epoch or unit do not make a layout, or not one that can generate."""

    code = "FLAKEID_INVALID_LAYOUT"


class FieldOutOfRangeError(FlakeIdError, ValueError):
    """A field's value is outside the range that its width allows; the text has value and range."""

    code = "FLAKEID_FIELD_OUT_OF_RANGE"
    #: The field at fault.
    field: str


class InvalidIdError(FlakeIdError, ValueError):
    """A number, text or bytes that are not an ID (of this layout, or of this text form)."""

    code = "FLAKEID_INVALID_ID"


class InvalidOptionError(FlakeIdError, ValueError):
    """An option that cannot be, or cannot be together with another."""

    code = "FLAKEID_INVALID_OPTION"


class ClockRollbackError(FlakeIdError):
    """The clock reads less than it did before."""

    code = "FLAKEID_CLOCK_ROLLBACK"
    #: By how many seconds.
    by: float


class SequenceExhaustedError(FlakeIdError):
    """Every sequence number of the tick is used up."""

    code = "FLAKEID_SEQUENCE_EXHAUSTED"


class HorizonReachedError(FlakeIdError):
    """The layout's ticks have run out."""

    code = "FLAKEID_HORIZON_REACHED"
    #: When, in Unix milliseconds.
    horizon: int


class BeforeEpochError(FlakeIdError):
    """The clock, or the instant given, is before the layout's epoch."""

    code = "FLAKEID_BEFORE_EPOCH"


class ClosedError(FlakeIdError):
    """The generator was retired."""

    code = "FLAKEID_CLOSED"


class ForkedError(FlakeIdError):
    """The generator, or the node, belongs to the parent of this forked process."""

    code = "FLAKEID_FORKED"


class RingEmptyError(FlakeIdError):
    """The ring buffer of pre-built IDs is empty."""

    code = "FLAKEID_RING_EMPTY"


class LeaseExpiredError(FlakeIdError):
    """The window of ticks is used up and was not extended."""

    code = "FLAKEID_LEASE_EXPIRED"


class NoFreeNodeError(FlakeIdError):
    """No node can be leased now."""

    code = "FLAKEID_NO_FREE_NODE"


class ClockSkewError(FlakeIdError):
    """This host's clock and the store's are too far apart."""

    code = "FLAKEID_CLOCK_SKEW"


class FenceInFutureError(FlakeIdError):
    """The node's fence lies too far ahead of the clock to start there."""

    code = "FLAKEID_FENCE_IN_FUTURE"


class StoreError(FlakeIdError):
    """What the lease store is to blame for."""


class StoreUnavailableError(StoreError):
    """The lease store does not answer."""

    code = "FLAKEID_STORE_UNAVAILABLE"


class StoreRejectedError(StoreError):
    """The lease store answers no."""

    code = "FLAKEID_STORE_REJECTED"


#: The class of every code.
CLASSES: dict[str, type[FlakeIdError]] = {
    error.code: error
    for error in (
        InvalidLayoutError,
        FieldOutOfRangeError,
        InvalidIdError,
        InvalidOptionError,
        ClockRollbackError,
        SequenceExhaustedError,
        HorizonReachedError,
        BeforeEpochError,
        ClosedError,
        ForkedError,
        RingEmptyError,
        LeaseExpiredError,
        NoFreeNodeError,
        ClockSkewError,
        FenceInFutureError,
        StoreUnavailableError,
        StoreRejectedError,
    )
}
