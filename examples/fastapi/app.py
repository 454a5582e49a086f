"""Orders whose primary keys are flakeid's: uvicorn app:app --workers 4."""

import os
from collections.abc import Iterator
from datetime import datetime

from fastapi import Depends, FastAPI
from pydantic import AwareDatetime, BaseModel
from sqlalchemy import BigInteger, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import flakeid

# Each worker imports this file, and so leases a node of its own. If the store is an SQLite file, it
# must not be the application's: see the guide's chapter on SQLite.
url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")
generator = flakeid.lease(url, namespace="orders")
engine = create_engine(os.environ.get("DATABASE_URL", "sqlite:///orders.sqlite"))


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        autoincrement=False,
        # SQLAlchemy inspects the arguments of a default, which a built-in method does not show.
        default=lambda: generator.next_id(),  # noqa: PLW0108
    )
    item: Mapped[str]


class NewOrder(BaseModel):
    item: str


class OrderOut(BaseModel):
    id: str  # as text: JavaScript does not keep 64-bit numbers exact
    item: str
    created_at: datetime


def told(order: Order) -> OrderOut:
    return OrderOut(
        id=str(order.id), item=order.item, created_at=flakeid.decode(order.id).timestamp
    )


def session() -> Iterator[Session]:
    with Session(engine) as session:
        yield session


Base.metadata.create_all(engine)
app = FastAPI()


# Plain `def`: FastAPI runs it in a thread, where waiting for an ID stops nobody else.
@app.post("/orders", status_code=201)
def create(new: NewOrder, session: Session = Depends(session)) -> OrderOut:
    order = Order(item=new.item)
    session.add(order)
    session.commit()
    return told(order)


# No column for the time: IDs sort by it, and the primary key's index answers.
@app.get("/orders")
def since(since: AwareDatetime, session: Session = Depends(session)) -> list[OrderOut]:
    first = flakeid.lower_bound(since)
    query = select(Order).where(Order.id >= first).order_by(Order.id).limit(100)
    return [told(order) for order in session.scalars(query)]
