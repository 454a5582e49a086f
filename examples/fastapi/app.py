"""Orders with IDs of flakeid as primary keys: uvicorn app:app --workers 4."""

import os
from collections.abc import Iterator
from datetime import datetime
from functools import cache

from fastapi import Depends, FastAPI, HTTPException
from pydantic import AwareDatetime, BaseModel
from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import flakeid
from flakeid.pydantic import FlakeId, FlakeIdIn
from flakeid.sqlalchemy import created_between, primary_key


@cache
def generator() -> flakeid.Generator:
    """Return the generator. Each worker leases its own node for its first order.

    FastAPI calls this plain `def` in a thread, where waiting for the store blocks no other request.
    """
    # If the store is an SQLite file, it must not be the application's database: see the guide's
    # chapter on SQLite.
    url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")
    return flakeid.lease(url, namespace="orders")


engine = create_engine(os.environ.get("DATABASE_URL", "sqlite:///orders.sqlite"))


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = primary_key(generator)
    item: Mapped[str]
    again: Mapped[int | None] = mapped_column(
        ForeignKey("orders.id")
    )  # the column has the type of the key


class NewOrder(BaseModel):
    item: str
    again: FlakeIdIn | None = None  # from a client: a string, because browsers round numbers


class OrderOut(BaseModel):
    id: FlakeId  # a string in JSON
    item: str
    again: FlakeId | None
    created_at: datetime


def told(order: Order) -> OrderOut:
    created_at = flakeid.decode(order.id).timestamp
    return OrderOut(id=order.id, item=order.item, again=order.again, created_at=created_at)


def session() -> Iterator[Session]:
    with Session(engine) as session:
        yield session


Base.metadata.create_all(engine)
app = FastAPI()


async def new_id(generator: flakeid.Generator = Depends(generator)) -> int:
    """Return an ID. A wait for the ID blocks neither the event loop nor a thread."""
    return await generator.next_id_async()


@app.post("/orders", status_code=201)
def create(
    new: NewOrder, id: int = Depends(new_id), session: Session = Depends(session)
) -> OrderOut:
    order = Order(id=id, item=new.item, again=new.again)
    session.add(order)
    session.commit()
    return told(order)


@app.get("/orders/{id}")
def read(id: FlakeIdIn, session: Session = Depends(session)) -> OrderOut:
    order = session.get(Order, id)
    if order is None:
        raise HTTPException(404)
    return told(order)


# No column of times is needed, because the index of the primary key selects IDs by time.
@app.get("/orders")
def made(
    since: AwareDatetime, until: AwareDatetime | None = None, session: Session = Depends(session)
) -> list[OrderOut]:
    query = select(Order).where(created_between(Order.id, since, until))
    return [told(order) for order in session.scalars(query.order_by(Order.id).limit(100))]
