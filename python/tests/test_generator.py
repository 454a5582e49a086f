import copy
import datetime as dt
import itertools
import pickle

import numpy
import pytest

import flakeid
from flakeid import Layout


def test_three_methods_return_consecutive_ids(generator):
    assert generator.next_id() == 910499571847892992
    assert next(generator) == 910499571847892993
    assert generator.try_next_id() == 910499571847892994
    assert list(itertools.islice(generator, 2)) == [910499571847892995, 910499571847892996]
    ids = generator.next_ids(1000)
    assert ids == list(range(910499571847892997, 910499571847893997))
    assert all(type(id) is int for id in ids)


def test_ids_contain_the_time_of_the_system_clock():
    generator = flakeid.Generator(datacenter=17, worker=25)
    before = dt.datetime.now(dt.UTC)
    ids = generator.next_ids(10_000)
    after = dt.datetime.now(dt.UTC)
    assert len(ids) == 10_000
    assert all(a < b for a, b in itertools.pairwise(ids))
    assert flakeid.lower_bound(before) <= ids[0] <= ids[-1] <= flakeid.upper_bound(after)
    assert {flakeid.decode(id).node for id in ids} == {569}


def test_ids_of_64_bit_layouts_are_positive():
    """IDs of 64-bit layouts are positive ints, even from 2**63 on."""
    layout = Layout.parse("discord")
    generator = flakeid.Generator(
        node=1023, layout=layout, clock=flakeid.ManualClock(layout.fits_i64_until)
    )
    assert 2**63 < generator.next_id() < 2**64
    assert 2**63 < generator.next_ids(2)[1] < 2**64


def test_generator_accepts_all_options(clock):
    epoch = 1_420_070_400_000
    generator = flakeid.Generator(
        node=numpy.uint64(5),
        layout=Layout.parse("plain"),
        epoch=epoch,
        sequence_mask=3,
        sequence_start=1,
        overflow="error",
        rollback="error",
        max_ahead=dt.timedelta(seconds=1),
        max_wait=0.25,
        clock=clock,
    )
    assert generator.node == 5
    assert generator.layout == Layout.parse("plain").with_epoch(epoch)
    parts = generator.layout.unpack(generator.next_id())
    assert (parts.unix_ms, parts.node) == (clock.unix_ms, 5)
    assert parts.sequence in (0, 1)
    generator.next_ids(4)
    with pytest.raises(flakeid.SequenceExhaustedError) as error:
        generator.next_id()
    assert error.value.retry_after == 0.001


def test_max_wait_accepts_numbers_and_timedeltas(clock):
    for max_wait in (1, 1.0, dt.timedelta(seconds=1)):
        clock.set(1_505_914_988_849)
        generator = flakeid.Generator(node=1, clock=clock, max_wait=max_wait, rollback="wait")
        generator.next_id()
        clock.set(clock.unix_ms - 3000)
        with pytest.raises(flakeid.ClockRollbackError):
            generator.next_id()
        assert clock.unix_ms == 1_505_914_988_849 - 2000


def test_window_limits_the_ids_until_extended(clock):
    tick = Layout.parse("twitter").tick_at(clock.unix_ms)
    generator = flakeid.Generator(node=1, clock=clock, window=(tick, tick + 2), overflow="borrow")
    assert len(generator.next_ids(10_000)) == 8192
    with pytest.raises(flakeid.LeaseExpiredError) as error:
        generator.next_id()
    assert error.value.retry_after is not None
    generator.extend(tick + 3)
    assert flakeid.decode(generator.next_id()).tick == tick + 2
    assert generator.retire() == tick + 2
    with pytest.raises(flakeid.ClosedError):
        generator.extend(tick + 4)


def test_next_ids_returns_the_ids_of_a_partial_fill(clock):
    generator = flakeid.Generator(node=1, clock=clock, overflow="error")
    assert len(generator.next_ids(5000)) == 4096
    with pytest.raises(flakeid.SequenceExhaustedError):
        generator.next_ids(1)
    clock.advance(0.001)
    assert len(generator.next_ids(1)) == 1


def test_next_ids_returns_long_increasing_lists(generator, clock):
    ids = generator.next_ids(200_000)
    assert len(ids) == len(set(ids)) == 200_000
    assert ids == sorted(ids)
    assert clock.unix_ms > 1_505_914_988_849


def test_retired_generator_raises_closed_error(clock):
    generator = flakeid.Generator(node=1, clock=clock)
    assert generator.retire() is None
    for call in (
        generator.next_id,
        generator.try_next_id,
        generator.retire,
        lambda: next(generator),
        lambda: generator.next_ids(2),
        lambda: generator.fill(numpy.zeros(2, numpy.uint64)),
        lambda: generator.try_fill(numpy.zeros(2, numpy.uint64)),
    ):
        with pytest.raises(flakeid.ClosedError):
            call()
    generator.close()
    assert generator.node == 1


def test_with_block_closes_the_generator(clock):
    with flakeid.Generator(node=1, clock=clock) as generator:
        generator.next_id()
    with pytest.raises(flakeid.ClosedError), generator:
        generator.next_id()
    with pytest.raises(KeyError), flakeid.Generator(node=2, clock=clock) as generator:
        raise KeyError
    with pytest.raises(flakeid.ClosedError):
        generator.next_id()
    with flakeid.Generator(node=3, clock=clock) as generator:
        generator.retire()


@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        *[lambda g, p=p: pickle.dumps(g, p) for p in range(pickle.HIGHEST_PROTOCOL + 1)],
    ],
)
def test_generators_cannot_be_copied(generator, duplicate):
    with pytest.raises(TypeError, match=r"cannot be copied or pickled: .* the same IDs"):
        duplicate(generator)


def test_clocks_cannot_be_copied(clock):
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle"):
            duplicate(clock)


def test_generators_of_one_node_share_its_position():
    first, second = flakeid.Generator(node=77), flakeid.Generator(node=77)
    ids = [id for _ in range(2000) for id in (next(first), next(second))]
    assert all(a < b for a, b in itertools.pairwise(ids))


def test_generator_rejects_assignment_and_subclassing(generator):
    for name in ("node", "layout", "anything"):
        with pytest.raises(AttributeError):
            setattr(generator, name, 1)
    with pytest.raises(TypeError):

        class Derived(flakeid.Generator):
            pass


def test_manual_clock_advances_by_whole_milliseconds(clock):
    clock.advance(dt.timedelta(milliseconds=1, microseconds=999))
    assert clock.unix_ms == 1_505_914_988_851
    clock.advance(2)
    clock.set(clock.unix_ms - 1)
    assert clock.unix_ms == 1_505_914_990_850
    assert flakeid.ManualClock(-(2**63)).unix_ms == -(2**63)
    assert repr(clock) == "ManualClock(1505914990850)"


def test_next_id_fails_before_the_epoch():
    generator = flakeid.Generator(node=1, clock=flakeid.ManualClock(-5), max_wait=0)
    with pytest.raises(flakeid.BeforeEpochError, match="set the clock"):
        generator.next_id()


def test_error_before_the_first_tick_names_the_call_that_waits():
    generator = flakeid.Generator(node=77, layout="t30.n8.s8@0/3600s")
    expected = r"first tick begins in \d+ ms, .* call `next_id\(\)`, which waits at most `max_wait`"
    with pytest.raises(flakeid.SequenceExhaustedError, match=expected):
        generator.try_next_id()
