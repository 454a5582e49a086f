"""The system's clocks by name."""

import time

import pytest

import flakeid

NAMES = ["system", "coarse", "gated"]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def check(make, count, late_ms):
    """Check that IDs increase, are never ahead of the clock, and are at most `late_ms` behind."""
    last = 0
    for _ in range(count):
        before = time.time_ns() // 1_000_000
        id = make()
        after = time.time_ns() // 1_000_000
        assert last < id
        assert before - late_ms <= flakeid.decode(id).unix_ms <= after
        last = id


def test_ids_are_never_ahead_of_the_clock(name):
    generator = flakeid.Generator(node=61, clock=name)
    # The node's first tick begins after its creation; a full one pushes IDs into the next.
    generator.next_id()
    late = {"system": 0, "gated": 0, "coarse": 20}[name]
    check(generator.next_id, 20_000, late)
    check(generator.local().next_id, 20_000, 20)


def test_ids_of_every_method_increase(name):
    generator = flakeid.Generator(node=62, clock=name)
    ids = [generator.next_id(), next(generator), *generator.next_ids(10_000)]
    local = generator.local()
    of_local = [local.next_id() for _ in range(10_000)]
    ids.extend(generator.next_ids(10_000))
    assert ids == sorted(set(ids))
    assert of_local == sorted(set(of_local))
    assert set(ids).isdisjoint(of_local)


def test_generators_of_one_node_share_its_position_on_every_clock():
    generators = [flakeid.Generator(node=63, clock=name) for name in NAMES]
    ids = [generator.next_id() for _ in range(1000) for generator in generators]
    assert ids == sorted(set(ids))


def test_lease_uses_the_named_clock(tmp_path, name):
    url = f"sqlite://{tmp_path}/flakeid.db"
    with flakeid.lease(url, clock=name) as generator:
        generator.next_id()
        check(generator.next_id, 1000, 20)
        # Equal options share a lease; another clock needs another lease.
        assert flakeid.lease(url, clock=name).node == generator.node
        assert flakeid.lease(url, clock=NAMES[NAMES.index(name) - 1]).node != generator.node


def test_auto_shares_a_lease_for_each_clock(tmp_path, monkeypatch):
    monkeypatch.setenv("FLAKEID_STORE", f"sqlite://{tmp_path}/flakeid.db")
    coarse = [flakeid.auto(clock="coarse") for _ in range(2)]
    system = flakeid.auto()
    assert coarse[0].node == coarse[1].node != system.node
    assert coarse[0].next_id() < coarse[1].next_id()


@pytest.mark.parametrize(
    "make",
    [
        lambda **clock: flakeid.Generator(node=1, **clock),
        lambda **clock: flakeid.lease("sqlite:///nowhere/at/all.db", **clock),
        flakeid.auto,
    ],
    ids=["Generator", "lease", "auto"],
)
@pytest.mark.parametrize("name", ["", "Coarse", "monotonic", "\ud800"])
def test_unknown_clock_names_are_rejected(make, name):
    with pytest.raises(flakeid.InvalidOptionError, match=r"clock: must be .*coarse"):
        make(clock=name)


@pytest.mark.parametrize("clock", [1, b"coarse", time.time, flakeid.ManualClock])
def test_clocks_of_a_wrong_type_are_rejected(clock):
    with pytest.raises(TypeError, match="clock must be a str or a ManualClock, not"):
        flakeid.Generator(node=1, clock=clock)
    with pytest.raises(TypeError, match="clock must be a str, not"):
        flakeid.auto(clock=clock)
