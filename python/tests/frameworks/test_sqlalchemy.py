"""Tests of flakeid.sqlalchemy on SQLite and PostgreSQL."""

import asyncio
import copy
import pickle
import sys
from datetime import UTC, datetime, timedelta

import pytest
from alembic.autogenerate import compare_metadata, render_python_code
from alembic.migration import MigrationContext
from alembic.operations.ops import CreateTableOp, UpgradeOps
from sqlalchemy import Column, MetaData, Table, Text, create_engine, insert, literal, select, text
from sqlalchemy.exc import StatementError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import flakeid
from flakeid.sqlalchemy import FlakeId, FlakeIdUuid, created_between, next_id, primary_key

START = datetime(2017, 9, 20, 13, 43, 8, 849_000, UTC)


@pytest.fixture
def base(generator):
    class Base(DeclarativeBase):
        pass

    class Order(Base):
        __tablename__ = "orders"
        id: Mapped[int] = primary_key(generator)
        item: Mapped[str]
        other: Mapped[int | None] = mapped_column(FlakeId("discord"))

    Base.Order = Order
    return Base


@pytest.fixture
def engine(base, database):
    engine = create_engine(database)
    base.metadata.drop_all(engine)
    base.metadata.create_all(engine)
    yield engine
    base.metadata.drop_all(engine)
    engine.dispose()


@pytest.fixture
def order(base):
    return base.Order


def test_rows_are_created_read_and_filtered_by_time(engine, order, clock):
    with Session(engine) as session:
        for item in ("tea", "cup"):
            session.add(order(item=item))
            session.flush()
            clock.advance(60)
        session.add_all([order(item=str(n)) for n in range(3)])
        session.commit()

        def items(*bounds):
            made = created_between(order.id, *bounds)
            return list(session.scalars(select(order.item).where(made).order_by(order.id)))

        minute = timedelta(minutes=1)
        assert items() == ["tea", "cup", "0", "1", "2"]
        assert items(START, START + minute) == ["tea"]
        assert items(START + minute) == ["cup", "0", "1", "2"]
        assert items(None, START + 2 * minute) == ["tea", "cup"]
        assert items(int(START.timestamp() * 1000), None)[0] == "tea"
        found = session.get(order, 910499571847892992)
        assert found.item == "tea"
        assert type(found.id) is int


def test_async_session_creates_and_reads_rows(base, order, postgresql):
    async def run():
        engine = create_async_engine(postgresql.replace("postgresql://", "postgresql+psycopg://"))
        async with engine.begin() as connection:
            await connection.run_sync(base.metadata.create_all)
        async with AsyncSession(engine) as session:
            session.add_all([order(item="tea"), order(item="cup")])
            await session.commit()
            found = await session.scalars(select(order.id).where(created_between(order.id, START)))
            assert len(set(found)) == 2
        async with engine.begin() as connection:
            await connection.run_sync(base.metadata.drop_all)
        await engine.dispose()

    asyncio.run(run())


def test_columns_reject_invalid_ids(engine, order):
    with Session(engine) as session:
        largest = 2**63 - 1
        session.add(order(item="largest", other=largest))
        session.flush()
        assert session.scalar(select(order.other).where(order.other == largest)) == largest
        refused = {
            2**63: "9223372036854775808 does not fit a signed column of 64 bits",
            -1: "id -1 is out of range",
            True: "id must be an int, not bool",
            "5": "id must be an int, not str",
            1.5: "id must be an int, not float",
        }
        for value, reason in refused.items():
            with pytest.raises(StatementError, match=reason):
                session.scalar(select(order).where(order.other == value))
        with pytest.raises(StatementError, match="does not fit"):
            session.scalar(select(order).where(created_between(order.other, 4 * 10**12)))


def test_created_between_requires_a_layout(order):
    with pytest.raises(flakeid.InvalidOptionError, match=r"Order\.item must have the type FlakeId"):
        created_between(order.item, START)
    with pytest.raises(flakeid.InvalidOptionError, match="time zone"):
        created_between(order.id, datetime(2017, 9, 20))  # noqa: DTZ001
    with pytest.raises(flakeid.InvalidLayoutError):
        FlakeId("tweeter")


def test_core_tables_support_ids_and_literals(generator, database):
    metadata = MetaData()
    default = next_id(flakeid.CachedGenerator(flakeid.Generator(node=700)))
    key = Column("id", FlakeId(), primary_key=True, autoincrement=False, default=default)
    table = Table("plain_orders", metadata, key, Column("item", Text))
    engine = create_engine(database)
    metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(insert(table), [{"item": "tea"}, {"item": "cup"}])
        assert connection.scalar(select(table.c.id).where(table.c.id < generator.next_id())) is None
        shown = (
            select(table)
            .where(table.c.id == literal(5, FlakeId()))
            .compile(engine, compile_kwargs={"literal_binds": True})
        )
        assert str(shown).endswith("plain_orders.id = 5")
    metadata.drop_all(engine)
    engine.dispose()


def test_alembic_reproduces_the_column_type(base, engine):
    with engine.connect() as connection:
        ours = {"include_name": lambda name, type_, _parents: type_ != "table" or name == "orders"}
        context = MigrationContext.configure(connection, opts={"compare_type": True} | ours)
        assert compare_metadata(context, base.metadata) == []
    table = base.metadata.tables["orders"]
    written = render_python_code(UpgradeOps([CreateTableOp.from_table(table)]))
    assert "sa.Column('id', sa.BigInteger()" in written
    assert "flakeid" not in written


def test_uuid_columns_hold_ids_in_their_order(generator, clock, database):
    class Base(DeclarativeBase):
        pass

    class Parcel(Base):
        __tablename__ = "parcels"
        id: Mapped[int] = primary_key(generator, uuid=True)
        other: Mapped[int | None] = mapped_column(FlakeIdUuid("discord"))

    engine = create_engine(database)
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)
    others = [0, 5, 2**53, 2**63 - 1, 2**63, 2**64 - 1]
    with Session(engine) as session:
        for other in others:
            session.add(Parcel(other=other))
            session.flush()
            clock.advance(60)
        session.commit()
        found = list(session.scalars(select(Parcel).order_by(Parcel.other)))
        assert [parcel.other for parcel in found] == others
        assert [parcel.id for parcel in found] == sorted(parcel.id for parcel in found)
        assert {type(parcel.id) for parcel in found} == {int}
        minute = timedelta(minutes=1)
        made = created_between(Parcel.id, START + minute, START + 3 * minute)
        assert list(session.scalars(select(Parcel.other).where(made).order_by(Parcel.id))) == [
            5,
            2**53,
        ]
        assert session.get(Parcel, found[0].id) is found[0]
        written = session.scalar(text("SELECT CAST(id AS text) FROM parcels ORDER BY id LIMIT 1"))
        assert written.replace("-", "") == flakeid.to_uuid(found[0].id).hex
        for value, reason in {2**64: "out of range", "5": "id must be an int, not str"}.items():
            with pytest.raises(StatementError, match=reason):
                session.scalar(select(Parcel).where(Parcel.other == value))
        shown = (
            select(Parcel.id)
            .where(Parcel.other == literal(5, FlakeIdUuid()))
            .compile(engine, compile_kwargs={"literal_binds": True})
        )
        assert flakeid.to_uuid(5).hex in str(shown).replace("-", "")
        session.execute(text("UPDATE parcels SET other = '919108f752d143209bacf847db4148a8'"))
        with pytest.raises(flakeid.InvalidIdError, match="version 4"):
            session.scalars(select(Parcel.other)).all()
    table = Base.metadata.tables["parcels"]
    migration = render_python_code(UpgradeOps([CreateTableOp.from_table(table)]))
    assert "sa.Column('id', sa.Uuid()" in migration
    Base.metadata.drop_all(engine)
    engine.dispose()


def test_types_can_be_copied_and_pickled():
    for copied in (copy.copy, copy.deepcopy, lambda type_: pickle.loads(pickle.dumps(type_))):
        made = copied(FlakeId("discord"))
        assert isinstance(made, FlakeId)
        assert made.layout == flakeid.Layout.parse("discord")
        assert repr(made) == "BigInteger()"


def test_first_id_imports_the_generator_or_calls_the_function(tmp_path, monkeypatch):
    calls = []

    def generator():
        calls.append(1)
        return flakeid.Generator(node=701)

    def other():
        return flakeid.Generator(node=702, layout="discord")

    class Base(DeclarativeBase):
        pass

    class Called(Base):
        __tablename__ = "called"
        id: Mapped[int] = primary_key(generator)

    class Named(Base):
        __tablename__ = "named"
        id: Mapped[int] = primary_key("lazy_ids.generator")
        other: Mapped[int] = mapped_column(FlakeId(), default=next_id("lazy_ids.generator"))

    class Mixed(Base):
        __tablename__ = "mixed"
        id: Mapped[int] = primary_key(other)

    class Right(Base):
        __tablename__ = "right"
        id: Mapped[int] = primary_key(other, layout="discord")

    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    assert calls == []
    assert "lazy_ids" not in sys.modules
    (tmp_path / "lazy_ids.py").write_text(
        "import flakeid\ngenerator = flakeid.Generator(node=703)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with Session(engine) as session:
        session.add_all([Called(), Called(), Named(), Right()])
        session.commit()
        assert calls == [1]
        for row, node in ((Called, 701), (Named, 703)):
            assert flakeid.decode(session.scalars(select(row.id)).first()).node == node
        session.add(Mixed())
        with pytest.raises(StatementError, match="the generator has the layout 'discord'"):
            session.commit()
    with pytest.raises(flakeid.InvalidOptionError, match="layout='twitter'"):
        primary_key(flakeid.Generator(node=701), layout="discord")
