"""IDs in SQLAlchemy 2: a column type, defaults from a generator, and filters by creation time.

>>> class Order(Base):
...     id: Mapped[int] = flakeid.sqlalchemy.primary_key(generator)
>>> select(Order).where(created_between(Order.id, start, end))
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol, SupportsIndex

from sqlalchemy import BigInteger, ColumnElement, Dialect, and_, true
from sqlalchemy.orm import MappedColumn, mapped_column
from sqlalchemy.sql.elements import SQLCoreOperations
from sqlalchemy.types import TypeDecorator

from ._flakeid import Generator, Layout
from ._frameworks import layout_of, signed
from .errors import InvalidOptionError

__all__ = ["FlakeId", "created_between", "next_id", "primary_key"]


class FlakeId(TypeDecorator[int]):
    """A column of IDs: `bigint`, and `int` in Python.

    FlakeId(layout="twitter"). `created_between` uses the layout to convert times.

    A negative number raises InvalidIdError, and so does an ID that does not fit a signed column,
    which only layouts of 64 bits have. Anything but an int raises TypeError. SQLAlchemy reports
    both as a StatementError when a statement is executed.
    """

    impl = BigInteger
    cache_ok = True

    def __init__(self, layout: Layout | str = "twitter") -> None:
        self.layout = layout_of(layout)
        super().__init__()

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """Return the ID in the form that is passed to the driver."""
        return None if value is None else signed(value)

    def process_literal_param(self, value: int | None, dialect: Dialect) -> str:
        """Return the ID as an SQL literal."""
        return "NULL" if value is None else str(self.process_bind_param(value, dialect))

    def __repr__(self) -> str:
        # Alembic writes this into migrations.
        return f"FlakeId({self.layout.preset_name or self.layout.descriptor!r})"


class _NextId(Protocol):
    def next_id(self) -> int: ...


def next_id(generator: _NextId) -> Callable[[], int]:
    """Return a `default` for a column: the next ID of a generator, cached, local or plain.

    SQLAlchemy inspects the parameters of a default, which built-in methods do not expose.
    """

    def default() -> int:
        return generator.next_id()

    return default


def primary_key(generator: Generator, **options: Any) -> MappedColumn[int]:
    """Return a `mapped_column` for a primary key with IDs from a generator.

    Args:
        generator: the generator of the IDs, whose layout becomes the column's.
        options: the options of `mapped_column`.
    """
    given: dict[str, Any] = {
        "primary_key": True,
        "autoincrement": False,
        "default": next_id(generator),
    }
    return mapped_column(FlakeId(generator.layout), **(given | options))


def created_between(
    column: SQLCoreOperations[int | None],
    start: datetime | SupportsIndex | None = None,
    end: datetime | SupportsIndex | None = None,
) -> ColumnElement[bool]:
    """Return a condition for rows created at or after `start` and before `end`.

    The condition can use an index on the IDs.

    Args:
        column: a column of the type FlakeId.
        start: an aware datetime, or Unix milliseconds (default: no lower bound).
        end: an aware datetime, or Unix milliseconds, exclusive (default: no upper bound). Both are
            rounded down to whole ticks.

    Raises:
        InvalidOptionError: the column has another type, or a datetime has no time zone.
    """
    type_ = getattr(column, "type", None)
    if not isinstance(type_, FlakeId):
        raise InvalidOptionError(
            f"column: {column} must have the type FlakeId, whose layout determines the times of"
            f" IDs, not {type_!r}"
        )
    bounds = []
    if start is not None:
        bounds.append(column >= type_.layout.lower_bound(start))
    if end is not None:
        bounds.append(column < type_.layout.lower_bound(end))
    return and_(true(), *bounds)
