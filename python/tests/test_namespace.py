"""Tests of the creation of namespaces, in an SQLite store, which grants nodes at once."""

from datetime import timedelta
from pathlib import Path

import pytest

import flakeid


def test_create_namespace_can_be_repeated_with_the_same_options(url):
    for _ in range(2):
        wait = flakeid.create_namespace(url, "orders", layout="sonyflake", max_window=60)
        assert wait == 0
    assert flakeid.create_namespace(url, "orders", layout=flakeid.Layout.parse("sonyflake")) == 0
    minute = timedelta(minutes=1)
    with flakeid.lease(url, namespace="orders", layout="sonyflake", window=minute) as generator:
        assert generator.next_id() > 0


def test_opening_waits_while_the_store_grants_nothing(url):
    flakeid.create_namespace(url, "late", max_window=1, max_skew=0.1, quiet=3)
    # Without this file, the store cannot exclude that it was restored.
    Path(url.removeprefix("sqlite://") + "-serial").unlink()
    options = {"namespace": "late", "window": 1, "max_wait": 0.001}
    with pytest.raises(flakeid.FenceInFutureError, match="grants again"):
        flakeid.lease(url, open_wait=0, **options)
    with flakeid.lease(url, **options) as generator:
        assert generator.next_id() > 0


@pytest.mark.parametrize(
    ("options", "exception", "message"),
    [
        ({"max_window": 20}, flakeid.InvalidOptionError, "max_window: is 20000 ms, but namespace"),
        ({"history": False}, flakeid.InvalidOptionError, "exists with a history"),
        ({"block_bits": 2}, flakeid.StoreRejectedError, "node by node"),
        ({"layout": "plain"}, flakeid.StoreRejectedError, "is for the layout"),
        ({"quiet": 1}, flakeid.FieldOutOfRangeError, "quiet 1000 ms is out of range"),
        ({"block_bits": -1}, flakeid.FieldOutOfRangeError, "block_bits"),
        ({"epoch": 1288834974}, flakeid.InvalidLayoutError, "write 1288834974000 instead"),
        ({"fresh": 1}, TypeError, "fresh must be a bool, not int"),
        ({"window": 1}, TypeError, "unexpected keyword argument 'window'"),
    ],
)
def test_create_namespace_rejects_options_of_another_namespace(url, options, exception, message):
    flakeid.create_namespace(url, "orders")
    with pytest.raises(exception, match=message):
        flakeid.create_namespace(url, "orders", **options)


@pytest.mark.parametrize(
    ("url", "name", "message"),
    [
        ("sqlite://ids.db", "no such", "must have 1 to 64 characters"),
        ("sqlite://i\0ds.db", "orders", "contains a control character"),
        ("http://127.0.0.1:1", "orders", "is a broker, which only grants leases"),
        (
            "postgresql+asyncpg://u:s3cret@db/app",
            "orders",
            "write postgresql://USER:PASSWORD@db/app",
        ),
    ],
)
def test_create_namespace_rejects_invalid_names_and_urls(url, name, message):
    with pytest.raises(flakeid.FlakeIdError, match=message) as caught:
        flakeid.create_namespace(url, name)
    assert "s3cret" not in str(caught.value)
