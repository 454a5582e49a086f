"""An order that SQLModel stores. Clients see only the public form of its ID."""

from pathlib import Path
from typing import Annotated

from sqlmodel import Field, Session, SQLModel, create_engine, select

import flakeid
from flakeid.pydantic import IdText
from flakeid.sqlalchemy import FlakeId, created_between

generator = flakeid.Generator(node=7)
orders = flakeid.PublicIds(Path("public.keys").read_text(), "order", prefix="ord")
OrderId = Annotated[int, IdText(public_ids=orders)]


class Order(SQLModel, table=True):
    id: OrderId = Field(default_factory=generator.next_id, primary_key=True, sa_type=FlakeId)
    item: str


engine = create_engine("sqlite://")
SQLModel.metadata.create_all(engine)
with Session(engine) as session:
    session.add(Order(item="tea"))
    session.commit()
    for order in session.exec(select(Order).where(created_between(Order.id))):
        print(order.model_dump_json())  # {"id":"ord_a…","item":"tea"}
