"""Tests of an application: one generator for its tests, and a clock that a test moves."""

import pytest

import flakeid


@pytest.fixture(scope="session")
def ids(tmp_path_factory):
    """Lease a node from a store that lives as long as the rows of the tests."""
    with flakeid.lease(f"sqlite://{tmp_path_factory.mktemp('ids')}/flakeid.db") as generator:
        yield generator


@pytest.fixture
def clock():
    """Stand still until a test moves the clock."""
    return flakeid.ManualClock(1_800_000_000_000)  # Unix milliseconds


@pytest.fixture
def fixed_ids(clock):
    """Generate the same IDs in every run."""
    return flakeid.Generator(node=7, clock=clock)


def test_two_orders_have_two_ids(ids):
    assert ids.next_id() < ids.next_id()


def test_an_order_contains_its_time(fixed_ids, clock):
    assert flakeid.decode(fixed_ids.next_id()).unix_ms == 1_800_000_000_000
    clock.advance(86_400)  # a day, in seconds
    assert flakeid.decode(fixed_ids.next_id()).unix_ms == 1_800_086_400_000
