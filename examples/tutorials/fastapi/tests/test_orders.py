"""Tests of the web service."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from alembic import command, config
from fastapi.testclient import TestClient
from shop.api import app


@pytest.fixture(scope="session")
def client():
    command.upgrade(config.Config("alembic.ini"), "head")
    with TestClient(app) as client:
        yield client


def create(client, **order):
    response = client.post("/orders", json=order)
    assert response.status_code == 201, response.text
    return response.json()


def test_ids_are_strings_that_increase(client):
    first, second = create(client, item="tea"), create(client, item="coffee")
    assert isinstance(first["id"], str)
    assert int(first["id"]) < int(second["id"])


def test_an_order_repeats_an_earlier_order(client):
    first = create(client, item="tea")
    second = create(client, item="tea", again=first["id"])
    assert client.get(f"/orders/{second['id']}").json()["again"] == first["id"]


def test_an_id_that_is_a_number_is_rejected(client):
    first = create(client, item="tea")
    response = client.post("/orders", json={"item": "tea", "again": int(first["id"])})
    assert response.status_code == 422


def test_the_time_of_an_order_selects_it(client):
    order = create(client, item="tea")
    created_at = datetime.fromisoformat(order["created_at"])
    assert abs(datetime.now(UTC) - created_at) < timedelta(seconds=10)
    found = client.get("/orders", params={"since": order["created_at"]}).json()
    assert order in found
    until = {"since": "2020-01-01T00:00:00Z", "until": order["created_at"]}
    assert order not in client.get("/orders", params=until).json()


def test_concurrent_orders_have_distinct_ids(client):
    with ThreadPoolExecutor(8) as threads:
        orders = list(threads.map(lambda _: create(client, item="tea"), range(200)))
    assert len({order["id"] for order in orders}) == 200
