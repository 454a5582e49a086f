"""The environment of migrations, which alembic runs."""

from alembic import context
from shop.ids import DATABASE_URL
from shop.models import Base
from sqlalchemy import create_engine


def is_of_application(name: str | None, kind: str, _parents: dict) -> bool:
    # The tables of the leases are in the same database, and are not a part of the migrations.
    return kind != "table" or not (name or "").startswith("flakeid_")


with create_engine(DATABASE_URL).connect() as connection:
    context.configure(
        connection=connection, target_metadata=Base.metadata, include_name=is_of_application
    )
    with context.begin_transaction():
        context.run_migrations()
