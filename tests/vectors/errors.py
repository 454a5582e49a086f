"""The table of errors, and the exception that the reference raises."""

from __future__ import annotations

from typing import Any, NamedTuple

INVALID_LAYOUT = "FLAKEID_INVALID_LAYOUT"
FIELD_OUT_OF_RANGE = "FLAKEID_FIELD_OUT_OF_RANGE"
INVALID_ID = "FLAKEID_INVALID_ID"
INVALID_OPTION = "FLAKEID_INVALID_OPTION"
CLOCK_ROLLBACK = "FLAKEID_CLOCK_ROLLBACK"
SEQUENCE_EXHAUSTED = "FLAKEID_SEQUENCE_EXHAUSTED"
HORIZON_REACHED = "FLAKEID_HORIZON_REACHED"
BEFORE_EPOCH = "FLAKEID_BEFORE_EPOCH"
CLOSED = "FLAKEID_CLOSED"
LEASE_EXPIRED = "FLAKEID_LEASE_EXPIRED"


class FlakeIdError(Exception):
    """An error with its code and its details, in milliseconds."""

    def __init__(
        self,
        code: str,
        *,
        field: str | None = None,
        retry_after_ms: int | None = None,
        by_ms: int | None = None,
        horizon: int | None = None,
    ) -> None:
        super().__init__(code if field is None else f"{code} ({field})")
        self.code = code
        self.field = field
        self.retry_after_ms = retry_after_ms
        self.by_ms = by_ms
        self.horizon = horizon


class Row(NamedTuple):
    """A kind of error, and its names in each language."""

    kind: str
    code: str
    c: int
    retry: bool
    python: str
    value_error: bool = False
    python_base: str | None = None


ROWS = (
    Row(
        "InvalidLayout",
        INVALID_LAYOUT,
        1,
        False,
        "InvalidLayoutError",
        value_error=True,
    ),
    Row(
        "FieldOutOfRange",
        FIELD_OUT_OF_RANGE,
        2,
        False,
        "FieldOutOfRangeError",
        value_error=True,
    ),
    Row("InvalidId", INVALID_ID, 3, False, "InvalidIdError", value_error=True),
    Row(
        "InvalidOption",
        INVALID_OPTION,
        4,
        False,
        "InvalidOptionError",
        value_error=True,
    ),
    Row("ClockRollback", CLOCK_ROLLBACK, 10, True, "ClockRollbackError"),
    Row("SequenceExhausted", SEQUENCE_EXHAUSTED, 11, True, "SequenceExhaustedError"),
    Row("HorizonReached", HORIZON_REACHED, 12, False, "HorizonReachedError"),
    Row("BeforeEpoch", BEFORE_EPOCH, 13, True, "BeforeEpochError"),
    Row("Closed", CLOSED, 14, False, "ClosedError"),
    Row("Forked", "FLAKEID_FORKED", 15, False, "ForkedError"),
    Row("RingEmpty", "FLAKEID_RING_EMPTY", 16, True, "RingEmptyError"),
    Row("LeaseExpired", LEASE_EXPIRED, 20, True, "LeaseExpiredError"),
    Row("NoFreeNode", "FLAKEID_NO_FREE_NODE", 21, True, "NoFreeNodeError"),
    Row("ClockSkew", "FLAKEID_CLOCK_SKEW", 22, False, "ClockSkewError"),
    Row("FenceInFuture", "FLAKEID_FENCE_IN_FUTURE", 23, True, "FenceInFutureError"),
    Row(
        "StoreUnavailable",
        "FLAKEID_STORE_UNAVAILABLE",
        24,
        True,
        "StoreUnavailableError",
        python_base="StoreError",
    ),
    Row(
        "StoreRejected",
        "FLAKEID_STORE_REJECTED",
        25,
        False,
        "StoreRejectedError",
        python_base="StoreError",
    ),
)

C_ONLY = (
    ("FLAKEID_NULL_ARGUMENT", 100),
    ("FLAKEID_BUFFER_TOO_SMALL", 101),
    ("FLAKEID_PANIC", 102),
)

# The code of errors that only JavaScript causes, where several instances of WebAssembly run.
JAVASCRIPT_ONLY = ("FLAKEID_NODE_IN_USE",)


def document() -> dict[str, Any]:
    """Return the content of errors.json."""
    errors = []
    for row in ROWS:
        entry: dict[str, Any] = {
            "kind": row.kind,
            "code": row.code,
            "c": row.c,
            "retry": row.retry,
            "python": row.python,
        }
        if row.value_error:
            entry["value_error"] = True
        if row.python_base is not None:
            entry["python_base"] = row.python_base
        errors.append(entry)
    return {
        "errors": errors,
        "c_only": [{"code": code, "c": c} for code, c in C_ONLY],
        "javascript_only": [{"code": code} for code in JAVASCRIPT_ONLY],
    }
