"""Calls that type checkers must accept or reject. mypy --strict checks them; they never run."""

from typing import Annotated, assert_type

from pydantic import BaseModel
from sqlalchemy import ColumnElement
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedColumn, mapped_column

import flakeid
from flakeid.pydantic import FlakeId, FlakeIdIn, IdText
from flakeid.sqlalchemy import FlakeId as Column
from flakeid.sqlalchemy import created_between, next_id, primary_key

generator = flakeid.Generator(node=1)
assert_type(primary_key(generator, sort_order=-1), MappedColumn[int])
assert_type(primary_key("shop.ids.generator", layout="discord"), MappedColumn[int])
assert_type(primary_key(lambda: generator), MappedColumn[int])


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = primary_key(generator)
    other: Mapped[int | None] = mapped_column(Column("discord"), default=next_id(generator.local()))


class OrderOut(BaseModel):
    id: FlakeId
    user: Annotated[int, IdText(prefix="usr", text_only=True)]
    again: FlakeIdIn | None = None


assert_type(OrderOut(id=1, user=2).id, int)
assert_type(OrderOut(id=1, user=2).again, int | None)
assert_type(created_between(Order.id, 0), ColumnElement[bool])
assert_type(created_between(Order.other, end=0), ColumnElement[bool])

OrderOut(id=None, user=2)  # type: ignore[arg-type]
IdText("usr")  # type: ignore[call-arg]
primary_key()  # type: ignore[call-arg]
created_between("id", 0)  # type: ignore[arg-type]
Column(5)  # type: ignore[arg-type]
