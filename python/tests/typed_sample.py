"""Calls that type checkers must accept or reject. mypy --strict checks them; they never run."""

from array import array
from datetime import UTC, datetime, timedelta
from typing import assert_type

import flakeid

generator = flakeid.Generator(
    datacenter=17,
    worker=25,
    layout=flakeid.Layout.parse("twitter"),
    overflow="wait",
    rollback="continue",
    max_wait=timedelta(seconds=1),
    max_ahead=0.5,
    clock=flakeid.ManualClock(0),
    window=(0, 10),
)
assert_type(generator, flakeid.Generator)
assert_type(generator.next_id(), int)
assert_type(next(generator), int)
assert_type(list(generator), list[int])
assert_type(generator.next_ids(3), list[int])
assert_type(generator.fill(array("Q", [0])), int)
assert_type(generator.retire(), int | None)
assert_type(generator.stats().waits, int)
assert_type(generator.nodes, list[int])
assert_type(flakeid.Generator(nodes=[1, 2], clock="coarse"), flakeid.Generator)
assert_type(flakeid.Generator(nodes=range(4)), flakeid.Generator)
local = generator.local()
assert_type(local, flakeid.LocalGenerator)
assert_type(local.next_id(), int)
assert_type(next(local), int)
assert_type(list(local), list[int])
assert_type(local.generator, flakeid.Generator)


def refused(error: flakeid.FlakeIdError) -> None:
    assert_type(error.code, str)


with flakeid.CachedGenerator(
    generator,
    boost_power=4,
    padding_factor=60,
    refill_interval=0.5,
    max_age=timedelta(seconds=1),
    on_rejected_put=refused,
    on_rejected_take=refused,
) as cached:
    assert_type(cached, flakeid.CachedGenerator)
    assert_type(cached.take(), int)
    assert_type(next(cached), int)
    assert_type(cached.capacity, int)
    assert_type(cached.generator, flakeid.Generator)
    assert_type(cached.stats(), flakeid.RingStats)
    assert_type(cached.stats().dropped_stale, int)
with generator as same:
    assert_type(same, flakeid.Generator)


def told(event: flakeid.LeaseEvent) -> None:
    assert_type(event.kind, str)
    assert_type(event.node, int | None)
    assert_type(event.error, flakeid.FlakeIdError | None)


leased = flakeid.lease(
    "sqlite:///flakeid.db",
    namespace="orders",
    name="worker-1",
    nodes=(0, 15),
    ttl=timedelta(minutes=1),
    window=5,
    reuse=False,
    node_count=4,
    clock="coarse",
    on_event=told,
)
assert_type(leased, flakeid.Generator)
assert_type(flakeid.auto(layout="plain", clock="gated"), flakeid.Generator)
status = leased.lease
assert_type(status, flakeid.Lease | None)
if status is not None:
    assert_type(status.fence_time, datetime | None)
    assert_type(status.expires_in, timedelta | None)
    assert_type(status.last_error, flakeid.FlakeIdError | None)

parts = flakeid.decode(1)
assert_type(parts, flakeid.Parts)
assert_type(parts.timestamp, datetime | None)
assert_type(parts.datacenter, int | None)
assert_type(flakeid.Parts(parts.unix_ms, parts.tick, parts.node), flakeid.Parts)
match parts:
    case flakeid.Parts(unix_ms, _, node, sequence=sequence):
        assert_type((unix_ms, node, sequence), tuple[int, int, int])
assert_type(flakeid.lower_bound(datetime.now(UTC), layout="plain"), int)
assert_type(flakeid.Layout.presets(), dict[str, flakeid.Layout])
assert_type(flakeid.from_base62(flakeid.to_base62(1)), int)
assert_type(flakeid.from_uuid(flakeid.to_uuid(1)), int)
assert_type(flakeid.from_uuid(str(flakeid.to_uuid(1))), int)
assert_type(flakeid.to_bytes(1), bytes)

try:
    generator.next_id()
except flakeid.ClockRollbackError as error:
    assert_type(error.by, float)
    assert_type(error.code, str)
    assert_type(error.retry_after, float | None)

flakeid.Generator(7)  # type: ignore[call-arg]
flakeid.Generator(node=1.5)  # type: ignore[arg-type]
flakeid.Generator(node=1, overflow="later")  # type: ignore[arg-type]
flakeid.Generator(nodes=2)  # type: ignore[arg-type]
flakeid.Generator(node=1, clock="sundial")  # type: ignore[arg-type]
flakeid.auto("twitter", "coarse")  # type: ignore[call-arg]
flakeid.LocalGenerator().next_id()
flakeid.CachedGenerator()  # type: ignore[call-arg]
flakeid.CachedGenerator(local)  # type: ignore[arg-type]
flakeid.CachedGenerator(generator, on_rejected_put=print)
flakeid.CachedGenerator(generator, on_rejected_take=lambda: None)  # type: ignore[arg-type,misc]
flakeid.lease()  # type: ignore[call-arg]
flakeid.lease("sqlite:///a", nodes=3)  # type: ignore[arg-type]
flakeid.lease("sqlite:///a", on_event=print)
flakeid.lease("sqlite:///a", on_event=lambda: None)  # type: ignore[arg-type,misc]
flakeid.decode("1")  # type: ignore[arg-type]
flakeid.from_bytes("12345678")  # type: ignore[arg-type]
generator.fill([0])  # type: ignore[arg-type]
flakeid.Parts(1, 2)  # type: ignore[call-arg]
flakeid.Parts(1, 2, "3")  # type: ignore[arg-type]
parts.node = 1  # type: ignore[misc]
generator.node = 1  # type: ignore[misc]


class Derived(flakeid.Generator):  # type: ignore[misc]
    pass
