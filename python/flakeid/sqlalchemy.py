"""IDs in SQLAlchemy 2: a column type, defaults from a generator, and filters by creation time.

>>> class Order(Base):
...     id: Mapped[int] = flakeid.sqlalchemy.primary_key("shop.ids.generator")
>>> select(Order).where(created_between(Order.id, start, end))

Columns take the import path of a generator, or a function that returns it, so that only processes
that generate IDs lease a node. Migrations and other programs that import the models do not.
"""

import pkgutil
from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from typing import Any, Protocol, SupportsIndex, TypeVar, cast
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Dialect, Uuid, and_, true
from sqlalchemy.orm import MappedColumn, mapped_column
from sqlalchemy.sql.elements import SQLCoreOperations
from sqlalchemy.types import TypeDecorator

from ._flakeid import Generator, Layout, from_uuid, to_uuid
from ._frameworks import layout_of, signed
from .errors import InvalidOptionError

__all__ = ["FlakeId", "FlakeIdUuid", "created_between", "next_id", "primary_key"]


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
        # Alembic writes the name of the module and the result of `repr` into migrations. A
        # migration contains sa.BigInteger(), so that migrations do not depend on this package.
        self.__module__ = "sa"
        super().__init__()

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """Return the ID in the form that is passed to the driver."""
        return None if value is None else signed(value)

    def process_literal_param(self, value: int | None, dialect: Dialect) -> str:
        """Return the ID as an SQL literal."""
        return "NULL" if value is None else str(self.process_bind_param(value, dialect))

    def __repr__(self) -> str:
        return "BigInteger()"


class FlakeIdUuid(TypeDecorator[int]):
    """A column of IDs as UUIDs of version 8: `uuid` in the database, and `int` in Python.

    FlakeIdUuid(layout="twitter"). `created_between` uses the layout to convert times.

    A UUID that `flakeid.to_uuid` did not return raises InvalidIdError when a row is read. An ID
    that is out of range raises InvalidIdError, and anything but an int raises TypeError. SQLAlchemy
    reports both as a StatementError when a statement is executed.
    """

    impl = Uuid
    cache_ok = True

    def __init__(self, layout: Layout | str = "twitter") -> None:
        self.layout = layout_of(layout)
        # Alembic writes sa.Uuid() into migrations, for the same reason as in FlakeId.
        self.__module__ = "sa"
        super().__init__()

    def process_bind_param(self, value: int | None, dialect: Dialect) -> UUID | None:  # noqa: ARG002
        """Return the UUID that is passed to the driver."""
        return None if value is None else to_uuid(value)

    def process_result_value(self, value: UUID | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """Return the ID that a UUID of the column contains."""
        return None if value is None else from_uuid(value)

    def __repr__(self) -> str:
        return "Uuid()"


class _NextId(Protocol):
    def next_id(self) -> int: ...


_G = TypeVar("_G", bound=_NextId)


def next_id(generator: _NextId | Callable[[], _NextId] | str) -> Callable[[], int]:
    """Return a `default` for a column: the next ID of a generator, cached, local or plain.

    Args:
        generator: the generator, its import path, such as "shop.ids.generator", or a function that
            returns it. The first ID imports the path or calls the function.
    """
    generator_of = _source(generator)

    # SQLAlchemy inspects the parameters of a default, which built-in methods do not expose.
    def default() -> int:
        return generator_of().next_id()

    return default


def primary_key(
    generator: Generator | Callable[[], Generator] | str,
    *,
    layout: Layout | str | None = None,
    uuid: bool = False,
    **options: Any,
) -> MappedColumn[int]:
    """Return a `mapped_column` for a primary key with IDs from a generator.

    Args:
        generator: the generator, its import path, such as "shop.ids.generator", or a function that
            returns it. The first ID imports the path or calls the function.
        layout: the layout of the IDs (default: the generator's, or "twitter" for an import path or
            a function).
        uuid: whether the column has the type FlakeIdUuid instead of FlakeId.
        options: the options of `mapped_column`.

    Raises:
        InvalidLayoutError: `layout` is a string that does not describe a layout.
        InvalidOptionError: the generator has another layout. For an import path or a function, the
            first ID raises this error.
    """
    if layout is None and isinstance(generator, Generator):
        layout = generator.layout
    type_ = (FlakeIdUuid if uuid else FlakeId)(layout or "twitter")
    checked = partial(_checked, _source(generator), type_.layout)
    if isinstance(generator, Generator):
        checked()
    given: dict[str, Any] = {
        "primary_key": True,
        "autoincrement": False,
        "default": next_id(cache(checked)),
    }
    return mapped_column(type_, **(given | options))


def _source(generator: _G | Callable[[], _G] | str) -> Callable[[], _G]:
    """Return a function that returns the generator, and imports or creates it in the first call."""
    if isinstance(generator, str):
        return cache(partial(pkgutil.resolve_name, generator))
    if hasattr(generator, "next_id"):
        found = cast("_G", generator)
        return lambda: found
    return cache(generator)


def _checked(generator_of: Callable[[], Generator], layout: Layout) -> Generator:
    """Return the generator, and check that it has the layout of its column."""
    generator = generator_of()
    if generator.layout != layout:
        column, made = (of.preset_name or of.descriptor for of in (layout, generator.layout))
        raise InvalidOptionError(
            f"layout: the generator has the layout {made!r}, but its column has {column!r}; call"
            f" primary_key with layout={made!r}"
        )
    return generator


def created_between(
    column: SQLCoreOperations[int | None],
    start: datetime | SupportsIndex | None = None,
    end: datetime | SupportsIndex | None = None,
) -> ColumnElement[bool]:
    """Return a condition for rows created at or after `start` and before `end`.

    The condition can use an index on the IDs.

    Args:
        column: a column of the type FlakeId or FlakeIdUuid.
        start: an aware datetime, or Unix milliseconds (default: no lower bound).
        end: an aware datetime, or Unix milliseconds, exclusive (default: no upper bound). Both are
            rounded down to whole ticks.

    Raises:
        InvalidOptionError: the column has another type, or a datetime has no time zone.
    """
    type_ = getattr(column, "type", None)
    if not isinstance(type_, FlakeId | FlakeIdUuid):
        raise InvalidOptionError(
            f"column: {column} must have the type FlakeId or FlakeIdUuid, whose layout determines"
            f" the times of IDs, not {type_!r}"
        )
    bounds = []
    if start is not None:
        bounds.append(column >= type_.layout.lower_bound(start))
    if end is not None:
        bounds.append(column < type_.layout.lower_bound(end))
    return and_(true(), *bounds)
