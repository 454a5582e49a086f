"""Tests of the interface: python manage.py test."""

from datetime import UTC, datetime, timedelta

from rest_framework.test import APITestCase

import flakeid


class OrdersTest(APITestCase):
    def create(self, path, **fields):
        response = self.client.post(path, fields, format="json")
        assert response.status_code == 201, response.content
        return response.json()

    def setUp(self):
        self.customer = self.create("/customers/", name="Ada")

    def test_ids_are_strings_that_increase(self):
        first = self.create("/orders/", customer=self.customer["id"], item="tea")
        second = self.create("/orders/", customer=self.customer["id"], item="coffee")
        assert isinstance(first["id"], str)
        assert int(first["id"]) < int(second["id"])
        assert first["customer"] == self.customer["id"]

    def test_an_id_that_is_a_number_is_rejected(self):
        order = {"customer": int(self.customer["id"]), "item": "tea"}
        response = self.client.post("/orders/", order, format="json")
        assert response.status_code == 400
        assert "customer" in response.json()

    def test_the_time_of_an_order_selects_it(self):
        order = self.create("/orders/", customer=self.customer["id"], item="tea")
        created_at = flakeid.decode(int(order["id"])).timestamp
        assert abs(datetime.now(UTC) - created_at) < timedelta(seconds=10)
        for since, expected in [(created_at, [order]), (created_at + timedelta(hours=1), [])]:
            response = self.client.get("/orders/", {"since": since.isoformat()})
            assert response.json() == expected
