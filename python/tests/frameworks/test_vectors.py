"""Tests that every type accepts and rejects the IDs of the shared vectors."""

from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError
from rest_framework import serializers
from sqlalchemy import Column, MetaData, Table, create_engine, insert, select

from flakeid import InvalidIdError
from flakeid.pydantic import IdText
from flakeid.rest_framework import FlakeIdField
from flakeid.sqlalchemy import FlakeId

MOST_SIGNED = 2**63 - 1


def types(layout):
    """Return the functions of pydantic and Django REST framework that read and write IDs."""
    adapter = TypeAdapter(Annotated[int, IdText(layout=layout)])
    field = FlakeIdField(layout=layout)
    return [
        (
            lambda text: adapter.validate_json(f'"{text}"'),
            lambda id: adapter.dump_python(id, mode="json"),
        ),
        (field.run_validation, field.to_representation),
    ]


def by_layout(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["layout"], []).append(int(row["id"]))
    return groups.items()


def test_types_read_and_write_ids_of_every_layout(vectors):
    for layout, ids in by_layout(vectors.rows("layouts", "ids")):
        for read, write in types(layout):
            for id in ids:
                assert write(id) == str(id)
                assert read(str(id)) == id


def test_types_reject_ids_outside_the_layout(vectors):
    for layout, ids in by_layout(vectors.rows("layouts", "rejected_ids")):
        for read, _ in types(layout):
            for id in ids:
                with pytest.raises((ValidationError, serializers.ValidationError)):
                    read(str(id))


def test_types_accept_and_reject_strings_of_the_vectors(vectors):
    [decimal] = [row for row in vectors.rows("text", "forms") if row["form"] == "decimal"]
    layout = "t62.s2@0/1ms"  # uses all 64 bits
    for read, _ in types(layout):
        for row in decimal["valid"] + decimal["accepted"]:
            assert read(row["text"]) == int(row["id"])
    [(_, _), (read, _)] = types(layout)
    for row in decimal["rejected"]:
        with pytest.raises(serializers.ValidationError):
            read(row["text"])


def test_columns_keep_every_id(vectors, database):
    ids = sorted({int(row["id"]) for row in vectors.rows("layouts", "ids")})
    fitting = [id for id in ids if id <= MOST_SIGNED]
    assert len(fitting) > 200
    table = Table(
        "vectors", MetaData(), Column("id", FlakeId(), primary_key=True, autoincrement=False)
    )
    engine = create_engine(database)
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(insert(table), [{"id": id} for id in fitting])
        assert list(connection.scalars(select(table.c.id).order_by(table.c.id))) == fitting
        table.drop(connection)
    engine.dispose()
    for id in ids:
        if id > MOST_SIGNED:
            with pytest.raises(InvalidIdError):
                FlakeId().process_bind_param(id, engine.dialect)
