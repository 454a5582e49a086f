"""Tests of flakeid.pydantic, alone and with FastAPI and SQLModel."""

import importlib
import os
import subprocess
import sys
from typing import Annotated

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.testclient import TestClient

import flakeid
from flakeid.pydantic import FlakeId, FlakeIdIn, IdText

ID = 910499571847892992
KEYRING = "a 000102030405060708090a0b0c0d0e0f"
PUBLIC = flakeid.PublicIds(KEYRING, "user", prefix="usr")


class Model(BaseModel):
    id: FlakeId
    prefixed: Annotated[int, IdText(prefix="usr")] | None = None
    public: Annotated[int, IdText(public_ids=PUBLIC)] | None = None
    incoming: FlakeIdIn | None = None


def test_model_reads_strings_and_writes_strings():
    model = Model(id=ID, prefixed=ID, public=ID, incoming=str(ID))
    assert model.model_dump() == dict.fromkeys(Model.model_fields, ID)
    text = model.model_dump_json()
    public = PUBLIC.seal(ID)
    assert text == (f'{{"id":"{ID}","prefixed":"usr_{ID}","public":"{public}","incoming":"{ID}"}}')
    assert Model.model_validate_json(text) == model
    assert Model(id=str(ID)).id == ID
    assert TypeAdapter(dict[FlakeId, int]).dump_json({ID: 1}) == f'{{"{ID}":1}}'.encode()


@pytest.mark.parametrize("name", Model.model_fields)
def test_numbers_of_json_are_rejected(name):
    for number in (ID, 5, float(ID)):
        with pytest.raises(
            ValidationError, match=r"must be a string here, .* in browsers, which keep 53"
        ):
            Model.model_validate_json(f'{{"id":"1","{name}":{number}}}')


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("id", "9e17", "'e' is not a valid digit"),
        ("id", "", "the string is empty"),
        ("id", "9223372036854775808", "bits set outside that layout's fields"),
        ("id", f"usr_{ID}", "is not a valid digit"),
        ("prefixed", f"{ID}", "must begin with 'usr_', as 'usr_4611686018423193600' does"),
        ("prefixed", f"usr_{ID}{{0}}", "is not a valid digit"),
        ("public", f"usr_{ID}", "not a public ID of this domain"),
    ],
)
def test_invalid_strings_are_rejected(name, text, reason):
    for validate in (Model.model_validate, lambda data: Model(**data)):
        with pytest.raises(ValidationError, match=reason) as error:
            validate({"id": "1", name: text})
        assert error.value.errors()[0]["type"] == "flakeid"


def test_model_checks_values_of_python():
    for value, reason in {
        -1: "out of range",
        2**63: "bits set outside",
        2**64: "out of range",
        True: r"not True \[",
        1.5: "must be a string here",
        None: r"not None \[",
    }.items():
        with pytest.raises(ValidationError, match=reason):
            Model(id=value)
    with pytest.raises(ValidationError, match="must be a string here"):
        Model(id=1, incoming=ID)
    assert TypeAdapter(Annotated[int, IdText(layout="discord")]).validate_python(2**63) == 2**63


def test_schema_describes_a_string():
    for mode in ("validation", "serialization"):
        schema = Model.model_json_schema(mode=mode)["properties"]
        assert schema["id"]["type"] == "string"
        assert schema["prefixed"]["anyOf"][0] == {
            "type": "string",
            "description": "a 64-bit ID, such as 'usr_4611686018423193600'",
        }


def test_id_text_rejects_invalid_options():
    with pytest.raises(flakeid.InvalidOptionError, match=r'^prefix: "A b"'):
        IdText(prefix="A b")
    with pytest.raises(
        flakeid.InvalidOptionError, match="public_ids: cannot be combined with prefix"
    ):
        IdText(prefix="usr", public_ids=PUBLIC)
    with pytest.raises(flakeid.InvalidLayoutError):
        IdText(layout="tweeter")
    with pytest.raises(TypeError, match="must annotate int, not <class 'str'>"):
        TypeAdapter(Annotated[str, IdText()])


def test_fastapi_example_reads_and_writes_ids(example, database, monkeypatch):
    example("tutorials/fastapi")
    monkeypatch.setenv("DATABASE_URL", database)
    service = importlib.import_module("shop.api")
    tables = importlib.import_module("shop.models").Base.metadata
    tables.create_all(service.engine)
    try:
        # The service releases its node when it stops.
        with TestClient(service.app) as client:
            check_orders(client)
    finally:
        tables.drop_all(service.engine)
        service.engine.dispose()


def check_orders(client):
    first = client.post("/orders", json={"item": "tea"}).json()
    assert isinstance(first["id"], str)
    again = client.post("/orders", json={"item": "tea", "again": first["id"]}).json()
    assert again["again"] == first["id"]
    assert client.get(f"/orders/{again['id']}").json() == again
    found = client.get("/orders", params={"since": first["created_at"]}).json()
    assert found == [first, again]
    assert (
        client.get(
            "/orders", params={"since": "2020-01-01T00:00:00Z", "until": first["created_at"]}
        ).json()
        == []
    )

    refused = client.post("/orders", json={"item": "tea", "again": int(first["id"])})
    assert refused.status_code == 422
    (error,) = refused.json()["detail"]
    assert error["loc"] == ["body", "again"]
    assert error["msg"].startswith(
        "an ID must be a string here, such as '4611686018423193600', not "
    )
    assert client.get(f"/orders/{2**63}").status_code == 422
    assert client.get("/orders/1").status_code == 404

    described = client.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    assert schemas["OrderOut"]["properties"]["id"]["type"] == "string"
    assert schemas["NewOrder"]["properties"]["again"]["anyOf"][0]["type"] == "string"
    (parameter,) = described["paths"]["/orders/{id}"]["get"]["parameters"]
    assert parameter["schema"]["type"] == "string"


def test_sqlmodel_example_runs_in_a_program(root, tmp_path):
    (tmp_path / "public.keys").write_text(KEYRING)
    program = root / "examples" / "sqlmodel_order.py"
    run = [sys.executable, "-P", str(program)]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    orders = flakeid.PublicIds(KEYRING, "order", prefix="ord")

    class Out(BaseModel):
        id: Annotated[int, IdText(public_ids=orders)]
        item: str

    order = Out.model_validate_json(done.stdout)
    assert order.item == "tea"
    assert flakeid.decode(order.id).node == 7
