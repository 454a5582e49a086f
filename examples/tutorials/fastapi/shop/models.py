"""The tables."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from flakeid.sqlalchemy import primary_key

from .ids import generator


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = primary_key(generator)
    item: Mapped[str]
    # The order that this order repeats. The column has the type of the key to which it refers.
    again: Mapped[int | None] = mapped_column(ForeignKey("orders.id"))
