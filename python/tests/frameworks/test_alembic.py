"""Migrations of a real Alembic project, whose models have IDs of flakeid."""

import os
import subprocess
import sys

import pytest

import flakeid

IDS = """
import os
import flakeid

generator = flakeid.lease(os.environ["FLAKEID_STORE"])
"""

MODELS = """
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from flakeid.sqlalchemy import FlakeId, primary_key

class Base(DeclarativeBase):
    pass

class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = primary_key("ids.generator")
    item: Mapped[str]
    other: Mapped[int | None] = mapped_column(FlakeId("discord"))
"""

PROGRAM = """
from sqlalchemy import create_engine
from sqlalchemy.orm import Session
from models import Order

with Session(create_engine("sqlite:///orders.sqlite")) as session:
    session.add_all([Order(item="tea"), Order(item="cup")])
    session.commit()
    print(session.query(Order).count())
"""


@pytest.fixture
def project(tmp_path):
    def alembic(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "alembic", *arguments],
            cwd=tmp_path,
            # Nothing listens on this port, so a lease at import would fail.
            env={**os.environ, "FLAKEID_STORE": "postgresql://127.0.0.1:1/flakeid"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    alembic("init", "migrations")
    (tmp_path / "ids.py").write_text(IDS)
    (tmp_path / "models.py").write_text(MODELS)
    for name, old, new in (
        ("alembic.ini", "driver://user:pass@localhost/dbname", "sqlite:///orders.sqlite"),
        (
            "migrations/env.py",
            "target_metadata = None",
            "from models import Base\ntarget_metadata = Base.metadata",
        ),
    ):
        text = (tmp_path / name).read_text()
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new))
    return alembic


def test_migrations_lease_no_node_and_do_not_depend_on_flakeid(project, tmp_path):
    project("revision", "--autogenerate", "-m", "orders")
    (migration,) = (tmp_path / "migrations" / "versions").glob("*.py")
    text = migration.read_text()
    assert "flakeid" not in text
    assert "sa.Column('id', sa.BigInteger(), autoincrement=False, nullable=False)" in text
    assert "sa.Column('other', sa.BigInteger(), nullable=True)" in text
    project("upgrade", "head")
    assert "No new upgrade operations detected" in project("check")

    environment = {**os.environ, "FLAKEID_STORE": f"sqlite://{tmp_path}/flakeid.db"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "2"


OF_APPLICATION = """
def is_of_application(name, kind, _parents):
    return kind != "table" or not (name or "").startswith("flakeid_")

"""


def test_include_name_keeps_the_tables_of_leases(project, tmp_path, postgresql):
    flakeid.create_namespace(postgresql, "alembic", fresh=True)
    ini = tmp_path / "alembic.ini"
    url = postgresql.replace("postgresql://", "postgresql+psycopg://")
    ini.write_text(ini.read_text().replace("sqlite:///orders.sqlite", url))

    def migration():
        project("revision", "--autogenerate", "-m", "orders")
        (path,) = (tmp_path / "migrations" / "versions").glob("*.py")
        text = path.read_text()
        path.unlink()
        return text

    assert "op.drop_table('flakeid_namespace')" in migration()
    environment = tmp_path / "migrations" / "env.py"
    given = "target_metadata=target_metadata"
    text = environment.read_text().replace(given, f"{given}, include_name=is_of_application")
    environment.write_text(
        text.replace("def run_migrations_offline", f"{OF_APPLICATION}def run_migrations_offline")
    )
    text = migration()
    assert "op.create_table('orders'" in text
    assert "flakeid_" not in text
