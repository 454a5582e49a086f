"""The exceptions of flakeid, each with a code that is the same in every language."""

from __future__ import annotations

# Type checkers treat this name like typing.TYPE_CHECKING; importing typing takes milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class FlakeIdError(Exception):
    """The base class of flakeid's exceptions; flakeid also raises TypeError and BufferError."""

    #: The code of the error, which is the same in every language: FLAKEID_…
    code: ClassVar[str]
    #: The number of seconds after which the same call may succeed; None if waiting does not help.
    retry_after: float | None = None


class InvalidLayoutError(FlakeIdError, ValueError):
    """The fields, epoch and unit do not form a valid layout, or the layout cannot generate IDs."""

    code = "FLAKEID_INVALID_LAYOUT"


class FieldOutOfRangeError(FlakeIdError, ValueError):
    """A field's value is outside the range that its width allows; the message contains both."""

    code = "FLAKEID_FIELD_OUT_OF_RANGE"
    #: The name of the field.
    field: str


class InvalidIdError(FlakeIdError, ValueError):
    """A number, string or bytes object is not an ID of this layout or text form."""

    code = "FLAKEID_INVALID_ID"


class InvalidOptionError(FlakeIdError, ValueError):
    """An option is invalid, or cannot be combined with another option."""

    code = "FLAKEID_INVALID_OPTION"


class ClockRollbackError(FlakeIdError):
    """The clock went backwards."""

    code = "FLAKEID_CLOCK_ROLLBACK"
    #: The number of seconds by which the clock went backwards.
    by: float


class SequenceExhaustedError(FlakeIdError):
    """All sequence numbers of the tick are used up."""

    code = "FLAKEID_SEQUENCE_EXHAUSTED"


class HorizonReachedError(FlakeIdError):
    """The layout's ticks have run out."""

    code = "FLAKEID_HORIZON_REACHED"
    #: The horizon, in Unix milliseconds.
    horizon: int


class BeforeEpochError(FlakeIdError):
    """The clock or the given instant is before the layout's epoch."""

    code = "FLAKEID_BEFORE_EPOCH"


class ClosedError(FlakeIdError):
    """The generator was retired."""

    code = "FLAKEID_CLOSED"


class ForkedError(FlakeIdError):
    """The generator, or the node, belongs to the parent of this forked process."""

    code = "FLAKEID_FORKED"


class RingEmptyError(FlakeIdError):
    """The ring buffer of IDs generated in advance is empty."""

    code = "FLAKEID_RING_EMPTY"


class LeaseExpiredError(FlakeIdError):
    """The window of ticks is used up and has not been extended."""

    code = "FLAKEID_LEASE_EXPIRED"


class NoFreeNodeError(FlakeIdError):
    """No node can be leased now."""

    code = "FLAKEID_NO_FREE_NODE"


class ClockSkewError(FlakeIdError):
    """This host's clock and the store's clock are too far apart."""

    code = "FLAKEID_CLOCK_SKEW"


class FenceInFutureError(FlakeIdError):
    """The node's fence is too far ahead of the clock to start from it."""

    code = "FLAKEID_FENCE_IN_FUTURE"


class StoreError(FlakeIdError):
    """The base class of the errors of the lease store."""


class StoreUnavailableError(StoreError):
    """The lease store is not responding."""

    code = "FLAKEID_STORE_UNAVAILABLE"


class StoreRejectedError(StoreError):
    """The lease store rejected a request."""

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
