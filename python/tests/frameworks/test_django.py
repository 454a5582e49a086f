"""Tests of flakeid.django and flakeid.rest_framework in the guide's project, on two databases."""

import importlib
import sys
import uuid
from datetime import UTC, datetime, timedelta
from functools import cache
from urllib.parse import urlsplit

import django
import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.management import call_command
from django.db import connections, models
from django.test.utils import override_settings

import flakeid
from flakeid.django import FlakeIdAutoField, FlakeIdField, FlakeIdUuidField

ID = 910499571847892992


@pytest.fixture(scope="module")
def project(postgresql, tmp_path_factory, root):
    """One project with two databases, because Django reads its settings once in a process."""
    folder = tmp_path_factory.mktemp("django")
    (folder / "made_migrations").mkdir()
    (folder / "made_migrations" / "__init__.py").touch()
    server = urlsplit(postgresql)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setenv("FLAKEID_STORE", f"sqlite://{folder}/flakeid.db")
        patch.syspath_prepend(root / "examples" / "tutorials" / "django")
        patch.syspath_prepend(folder)
        written = importlib.import_module("settings")
        chosen = {name: getattr(written, name) for name in dir(written) if name.isupper()}
        chosen["MIGRATION_MODULES"] = {"shop": "made_migrations"}
        chosen["DATABASES"] = {
            "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder}/shop.sqlite"},
            "server": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": server.path[1:],
                "USER": server.username,
                "PASSWORD": server.password,
                "HOST": server.hostname,
                "PORT": server.port,
            },
        }
        settings.configure(**chosen)
        django.setup()
        call_command("makemigrations", "shop", verbosity=0)
        for database in chosen["DATABASES"]:
            call_command("migrate", database=database, verbosity=0)
        yield folder
        importlib.import_module("shop.ids").generator.close()
        call_command("migrate", "shop", "zero", database="server", verbosity=0)
        connections.close_all()


@pytest.fixture(params=["default", "server"])
def database(request):
    return request.param


@pytest.fixture
def shop(project):  # noqa: ARG001
    return importlib.import_module("shop.models")


def test_migrations_contain_the_generator_path(project):
    written = (project / "made_migrations" / "0001_initial.py").read_text()
    assert "('id', flakeid.django.FlakeIdAutoField(auto_created=True, primary_key=True" in written
    assert (
        "('id', flakeid.django.FlakeIdField(generator='shop.ids.generator', primary_key" in written
    )
    call_command("makemigrations", "shop", check=True, verbosity=0)


def test_columns_are_plain_bigints(shop):
    for model in (shop.Customer, shop.Order):
        with connections["server"].schema_editor(collect_sql=True) as editor:
            editor.create_model(model)
        assert '"id" bigint NOT NULL PRIMARY KEY' in editor.collected_sql[0]


def test_rows_are_created_read_and_filtered_by_time(database, shop):
    customers, orders = shop.Customer.objects.using(database), shop.Order.objects.using(database)
    before = datetime.now(UTC) - timedelta(seconds=1)
    customer = customers.create(name="Ada")
    assert flakeid.decode(customer.id).timestamp > before
    customers.bulk_create([shop.Customer(name="Eve"), shop.Customer(name="Kim")])
    assert len(set(customers.values_list("id", flat=True))) == 3
    old = orders.create(id=ID, customer=customer, item="cup")
    new = orders.create(customer=customer, item="tea")
    new.item = "more tea"
    new.save()
    assert orders.get(item="more tea").id == new.id > ID

    then = flakeid.decode(ID).timestamp
    later = then + timedelta(milliseconds=1)
    assert list(orders.filter(id__created_from=before)) == [new]
    assert list(orders.filter(id__created_from=then, id__created_before=later)) == [old]
    assert list(orders.filter(id__created_before=then)) == []
    assert list(customers.filter(order__id__created_from=before, pk__created_from=0)) == [customer]
    assert customers.filter(pk__created_before=before).count() == 0
    with pytest.raises(flakeid.InvalidOptionError, match="time zone"):
        orders.filter(id__created_from=datetime(2020, 1, 1))  # noqa: DTZ001
    customers.all().delete()


def test_columns_reject_invalid_ids(database, shop):
    orders = shop.Order.objects.using(database)
    for value, error, reason in (
        (2**63, flakeid.InvalidIdError, "does not fit a signed column of 64 bits"),
        (-1, flakeid.InvalidIdError, "out of range"),
        (9.1e17, TypeError, "must be an int, not float"),
        (True, TypeError, "must be an int, not bool"),
    ):
        with pytest.raises(error, match=reason):
            orders.create(id=value, customer_id=1, item="")
    assert not orders.filter(id=2**64).exists()


@cache
def parcels():
    """A model with IDs in columns of UUIDs. Django registers the class of a model only once."""

    class Parcel(models.Model):
        id = FlakeIdUuidField(primary_key=True, generator="shop.ids.generator")
        whole = models.ForeignKey("self", models.CASCADE, null=True)
        other = FlakeIdUuidField(null=True, layout="discord")

        class Meta:
            app_label = "parcels"

    return Parcel


@pytest.mark.usefixtures("project")
def test_uuid_columns_hold_ids_in_their_order(database):
    parcel_model = parcels()
    parcel = parcel_model.objects.using(database)
    connection = connections[database]
    with connection.schema_editor() as editor:
        editor.create_model(parcel_model)
    try:
        before = datetime.now(UTC) - timedelta(seconds=1)
        new = parcel.create()
        assert flakeid.decode(new.id).timestamp > before
        old = parcel.create(id=ID, whole=new, other=2**64 - 1)
        parcel.bulk_create([parcel_model(id=5, other=2**63 - 1)])
        assert list(parcel.order_by("id").values_list("id", flat=True)) == [5, ID, new.id]
        assert list(parcel.exclude(other=None).order_by("other").values_list("other", "whole")) == [
            (2**63 - 1, None),
            (2**64 - 1, new.id),
        ]
        for key in (ID, str(ID), flakeid.to_uuid(ID), str(flakeid.to_uuid(ID))):
            assert parcel.get(pk=key) == old
        assert parcel.get(id__in=[ID, 7]).whole == new
        old.other = ID
        old.save()
        assert parcel.get(other=ID) == old

        then = flakeid.decode(ID).timestamp
        later = then + timedelta(milliseconds=1)
        assert list(parcel.filter(id__created_from=before)) == [new]
        assert list(parcel.filter(id__created_from=then, id__created_before=later)) == [old]
        assert list(parcel.filter(whole__id__created_from=before)) == [old]

        with connection.cursor() as cursor:
            cursor.execute("SELECT id FROM parcels_parcel WHERE other IS NULL")
            assert uuid.UUID(str(cursor.fetchone()[0])) == flakeid.to_uuid(new.id)
            foreign = uuid.uuid4()
            shown = str(foreign) if database == "server" else foreign.hex
            cursor.execute("UPDATE parcels_parcel SET other = %s WHERE other IS NULL", [shown])
        with pytest.raises(flakeid.InvalidIdError, match="version 4"):
            parcel.get(id=new.id)
        for value, error, reason in (
            (2**64, flakeid.InvalidIdError, "out of range"),
            (-1, flakeid.InvalidIdError, "out of range"),
            (9.1e17, TypeError, "must be an int, not float"),
            (True, TypeError, "must be an int, not bool"),
            ("x", ValidationError, "36 characters"),
        ):
            with pytest.raises(error, match=reason):
                parcel.create(id=value)
    finally:
        with connection.schema_editor() as editor:
            editor.delete_model(parcel_model)


@pytest.mark.usefixtures("project")
def test_uuid_columns_have_the_database_type_of_uuids():
    with connections["server"].schema_editor(collect_sql=True) as editor:
        editor.create_model(parcels())
    assert '"id" uuid NOT NULL PRIMARY KEY' in editor.collected_sql[0]
    assert '"whole_id" uuid NULL' in editor.collected_sql[0]
    field = FlakeIdUuidField(generator="shop.ids.generator", layout="discord")
    assert FlakeIdUuidField(**field.deconstruct()[3]).deconstruct() == field.deconstruct()


@pytest.mark.usefixtures("project")
def test_check_requires_a_generator():
    with override_settings(FLAKEID_GENERATOR=None):
        assert FlakeIdField(null=True).get_default() is None
        with pytest.raises(ImproperlyConfigured, match="FLAKEID_GENERATOR"):
            FlakeIdAutoField(primary_key=True).get_default()
        key = FlakeIdField(primary_key=True)
        key.set_attributes_from_name("id")
        (found,) = [found for found in key.check() if found.id == "flakeid.E001"]
        assert "give the field generator=" in found.msg


@pytest.mark.usefixtures("project")
def test_options_survive_migrations():
    field = FlakeIdField(generator="shop.ids.generator", layout="discord", db_index=True)
    rebuilt = FlakeIdField(**field.deconstruct()[3])
    assert rebuilt.deconstruct() == field.deconstruct()
    assert rebuilt.layout == flakeid.Layout.parse("discord")
    assert not rebuilt.editable
    shown = FlakeIdField(generator="shop.ids.generator", editable=True)
    assert FlakeIdField(**shown.deconstruct()[3]).editable
    own = FlakeIdField(default=5, null=True)
    assert own.deconstruct()[3] == {"default": 5, "null": True}
    assert isinstance(FlakeIdAutoField(primary_key=True), models.AutoField)


@pytest.mark.usefixtures("project")
def test_rest_framework_reads_and_writes_strings():
    from rest_framework.schemas.openapi import AutoSchema  # noqa: PLC0415
    from rest_framework.test import APIClient  # noqa: PLC0415

    client = APIClient()

    def post(path, body):
        return client.post(path, body, format="json")

    customer = post("/customers/", {"name": "Ada"}).json()
    order = post("/orders/", {"customer": customer["id"], "item": "tea"}).json()
    assert order == {"id": order["id"], "customer": customer["id"], "item": "tea"}
    assert flakeid.decode(int(order["id"])).node == flakeid.decode(int(customer["id"])).node
    assert client.get(f"/orders/{order['id']}/").json() == order
    assert client.get("/orders/", {"since": "2020-01-01T00:00:00Z"}).json() == [order]
    assert client.get("/orders/", {"since": "2070-01-01T00:00:00Z"}).json() == []
    refused = post("/orders/", {"customer": int(customer["id"]), "item": "tea"})
    assert refused.status_code == 400
    (reason,) = refused.json()["customer"]
    assert reason.startswith("an ID must be a string here, such as '4611686018423193600', not ")
    assert client.get(f"/orders/{2**64}/").status_code == 404

    api = importlib.import_module("shop.api")
    described = AutoSchema().map_serializer(api.OrderSerializer())["properties"]
    assert described["id"] == {"type": "string", "readOnly": True}
    assert described["customer"] == {"type": "string"}


@pytest.mark.usefixtures("project")
def test_serializer_fields_convert_ids_and_reject_numbers():
    from rest_framework.exceptions import ValidationError  # noqa: PLC0415

    from flakeid import rest_framework as types  # noqa: PLC0415

    keyring = "a 000102030405060708090a0b0c0d0e0f"
    public_ids = flakeid.PublicIds(keyring, "user", prefix="usr")
    for field, text in (
        (types.FlakeIdField(), f"{ID}"),
        (types.FlakeIdField(prefix="usr"), f"usr_{ID}"),
        (types.FlakeIdField(public_ids=public_ids), public_ids.seal(ID)),
    ):
        assert field.to_representation(ID) == text
        assert field.run_validation(text) == ID
        for wrong in (ID, "", " ", "x", None, True, f"{text}{text}"):
            with pytest.raises(ValidationError):
                field.run_validation(wrong)

    class Wide(models.Model):
        other = FlakeIdField(layout="discord", null=True)

        class Meta:
            app_label = "wide"

    class WideSerializer(types.FlakeIdModelSerializer):
        class Meta:
            model = Wide
            fields = ["other"]  # noqa: RUF012

    class ParcelSerializer(types.FlakeIdModelSerializer):
        class Meta:
            model = parcels()
            fields = ["id", "whole", "other"]  # noqa: RUF012

    parcel = parcels()(id=ID, whole_id=5, other=2**63)
    assert ParcelSerializer(parcel).data == {"id": f"{ID}", "whole": "5", "other": f"{2**63}"}

    too_large = WideSerializer(data={"other": str(2**63)})
    assert not too_large.is_valid()
    assert too_large.errors["other"][0].code == "max_value"
