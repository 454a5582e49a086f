"""The web service: uvicorn shop.api:app."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime

from fastapi import Depends, FastAPI, HTTPException
from pydantic import AwareDatetime, BaseModel
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

import flakeid
from flakeid.pydantic import FlakeId, FlakeIdIn
from flakeid.sqlalchemy import created_between

from .ids import DATABASE_URL, release
from .models import Order

engine = create_engine(DATABASE_URL)


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    yield
    # uvicorn ends its workers with a signal, so exit handlers of Python do not run.
    release()


app = FastAPI(lifespan=lifespan)


class NewOrder(BaseModel):
    item: str
    again: FlakeIdIn | None = None  # from a client: only a string, because browsers round numbers


class OrderOut(BaseModel):
    id: FlakeId  # a string in JSON
    item: str
    again: FlakeId | None
    created_at: datetime


def output(order: Order) -> OrderOut:
    # The ID contains the time, so the table needs no column for it.
    created_at = flakeid.decode(order.id).timestamp
    return OrderOut(id=order.id, item=order.item, again=order.again, created_at=created_at)


def session() -> Iterator[Session]:
    with Session(engine) as session:
        yield session


@app.post("/orders", status_code=201)
def create(new: NewOrder, session: Session = Depends(session)) -> OrderOut:
    if new.again is not None and session.get(Order, new.again) is None:
        raise HTTPException(404, f"order {new.again} does not exist")
    order = Order(item=new.item, again=new.again)
    session.add(order)
    session.commit()
    return output(order)


@app.get("/orders/{id}")
def read(id: FlakeIdIn, session: Session = Depends(session)) -> OrderOut:
    order = session.get(Order, id)
    if order is None:
        raise HTTPException(404, f"order {id} does not exist")
    return output(order)


@app.get("/orders")
def between(
    since: AwareDatetime, until: AwareDatetime | None = None, session: Session = Depends(session)
) -> list[OrderOut]:
    # The condition uses the index of the primary key.
    query = select(Order).where(created_between(Order.id, since, until))
    return [output(order) for order in session.scalars(query.order_by(Order.id).limit(100))]
