"""Layouts, parts and stats: values that can be compared, hashed, printed and pickled."""

import copy
import datetime as dt
import multiprocessing
import pickle

import pytest

import flakeid
from flakeid import Layout

ID = 910499571847892992


def test_twitter_is_the_default():
    assert flakeid.decode(ID) == flakeid.decode(ID, "twitter")
    assert flakeid.decode(ID) == flakeid.decode(ID, layout=Layout.parse("twitter"))
    assert flakeid.Generator(node=1).layout == Layout.parse("twitter")
    assert flakeid.lower_bound(0) == flakeid.lower_bound(0, layout="twitter")


def test_parts_expose_every_field():
    parts = flakeid.decode(ID)
    assert parts.timestamp == dt.datetime(2017, 9, 20, 13, 43, 8, 849000, dt.UTC)
    assert parts.timestamp.tzinfo is dt.UTC
    assert repr(parts) == (
        f"Parts(timestamp={parts.timestamp!r}, unix_ms=1505914988849, tick=217080014192, "
        "node=569, datacenter=17, worker=25, clock_sequence=0, sequence=0)"
    )
    assert parts == flakeid.decode(ID) != flakeid.decode(ID + 1)
    assert len({parts, flakeid.decode(ID), flakeid.decode(ID + 1)}) == 2
    assert parts != ID
    with pytest.raises(AttributeError):
        parts.node = 1
    plain = flakeid.decode(ID, "plain")
    assert (plain.datacenter, plain.worker) == (None, None)
    assert "datacenter=None, worker=None" in repr(plain)


DUPLICATES = [
    copy.copy,
    copy.deepcopy,
    *[lambda v, p=p: pickle.loads(pickle.dumps(v, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)],
]


@pytest.mark.parametrize("duplicate", DUPLICATES)
@pytest.mark.parametrize("layout", ["twitter", "plain", "discord", "t40.n6.c4.s9@0/10ms"])
def test_parts_can_be_copied_and_pickled(layout, duplicate):
    layout = Layout.parse(layout)
    for id in (0, ID % 2**layout.width, 2**layout.width - 1):
        parts = layout.unpack(id)
        same = duplicate(parts)
        assert type(same) is flakeid.Parts
        assert (same, hash(same), repr(same)) == (parts, hash(parts), repr(parts))
        assert duplicate({parts: [parts, layout]}) == {parts: [parts, layout]}


@pytest.mark.parametrize("duplicate", DUPLICATES)
def test_layouts_can_be_copied_and_pickled(duplicate):
    for layout in (*Layout.presets().values(), Layout.parse("t42.n8.s13@1420070400000/5ms")):
        same = duplicate(layout)
        assert type(same) is Layout
        assert (same, hash(same), str(same)) == (layout, hash(layout), layout.descriptor)


def test_parts_and_layouts_can_be_sent_between_processes():
    layout = Layout.parse("sonyflake")
    jobs = [(ID % 2**63 + step, layout) for step in range(20)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(flakeid.decode, jobs) == [flakeid.decode(*job) for job in jobs]


def test_parts_support_match_statements():
    match flakeid.decode(ID):
        case flakeid.Parts(unix_ms, tick, node, 17, 25, clock_sequence=0, sequence=sequence):
            assert (unix_ms, tick, node, sequence) == (1505914988849, 217080014192, 569, 0)
        case _:
            pytest.fail("no match")
    match flakeid.decode(ID, "plain"):
        case flakeid.Parts(datacenter=None, worker=None, timestamp=dt.datetime(year=year)):
            assert year == 1976
        case _:
            pytest.fail("no match")
    names = flakeid.Parts.__match_args__
    parts = flakeid.decode(ID)
    assert flakeid.Parts(*(getattr(parts, name) for name in names)) == parts
    public = {name for name in dir(parts) if not name.startswith("_")}
    assert public == {"timestamp", *names}


def test_parts_can_be_built_by_hand():
    parts = flakeid.Parts(unix_ms=-5, tick=2**64 - 1, node=1)
    assert (parts.unix_ms, parts.tick, parts.node) == (-5, 2**64 - 1, 1)
    assert (parts.datacenter, parts.worker, parts.clock_sequence, parts.sequence) == (
        None,
        None,
        0,
        0,
    )
    assert parts != flakeid.Parts(-5, 2**64 - 1, 1, 0, 1)
    for numbers in ((), (1,), (1, 2), (1, 2, 3, 4, 5, 6, 7, 8)):
        with pytest.raises(TypeError, match="argument"):
            flakeid.Parts(*numbers)
    for name in flakeid.Parts.__match_args__:
        fields = {"unix_ms": 1, "tick": 2, "node": 3}
        for value in (1.0, "1", True, b"1"):
            with pytest.raises(TypeError, match=f"^{name} must be an int, not"):
                flakeid.Parts(**{**fields, name: value})
        if name != "unix_ms":
            for value in (-1, 2**64):
                with pytest.raises(flakeid.FieldOutOfRangeError) as error:
                    flakeid.Parts(**{**fields, name: value})
                assert error.value.field == name
    with pytest.raises(flakeid.InvalidOptionError, match="unix_ms"):
        flakeid.Parts(2**63, 2, 3)


def test_instants_are_exact():
    """Conversion does not use floats, which lose milliseconds near the year 9999."""
    layout = Layout.parse("t50.n6.s7@0/1ms")
    last = dt.datetime(9999, 12, 31, 23, 59, 59, 999000, dt.UTC)
    for instant in (last, dt.datetime(2026, 1, 1, 0, 0, 0, 1000, dt.UTC)):
        tick = layout.tick_at(instant)
        assert layout.unpack(layout.pack(tick=tick, node=1)).timestamp == instant
    assert layout.unpack(layout.pack(tick=layout.tick_at(last) + 1, node=1)).timestamp is None


def test_instants_round_down():
    utc = dt.UTC
    for layout in Layout.presets().values():
        whole = dt.datetime(2024, 1, 1, tzinfo=utc)
        for microsecond in (1, 500, 999):
            instant = whole.replace(microsecond=microsecond)
            assert flakeid.lower_bound(instant, layout) == flakeid.lower_bound(whole, layout)
    assert Layout.parse("twitter").timestamp(
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, utc)
    ) == Layout.parse("twitter").timestamp(-1)


def test_bounds_accept_instants_in_any_zone():
    there = dt.timezone(dt.timedelta(hours=5, minutes=30))
    instant = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert flakeid.upper_bound(instant) == flakeid.upper_bound(instant.astimezone(there))
    for extreme in (dt.datetime.min.replace(tzinfo=dt.UTC), dt.datetime.max.replace(tzinfo=dt.UTC)):
        flakeid.lower_bound(extreme)


def test_layouts_compare_and_hash_as_values():
    twitter = Layout.parse("twitter")
    assert twitter == Layout.parse(str(twitter)) != Layout.parse("plain")
    assert {twitter: 1}[Layout.parse("twitter")] == 1
    assert twitter != "twitter"
    assert repr(twitter) == "Layout.parse('twitter')"
    other = Layout.parse("t42.n8.s13@1420070400000/5ms")
    assert repr(other) == "Layout.parse('t42.n8.s13@1420070400000/5ms')"
    with pytest.raises(TypeError):
        Layout()


def test_layout_exposes_its_derived_numbers():
    twitter = Layout.parse("twitter")
    assert twitter.fields == [
        ("time", 41, 22),
        ("datacenter", 5, 17),
        ("worker", 5, 12),
        ("sequence", 12, 0),
    ]
    assert (twitter.max_datacenter, twitter.max_worker) == (31, 31)
    assert (twitter.epoch, twitter.unit_ms) == (1288834974657, 1)
    assert (twitter.ids_per_second, twitter.fits_f64) == (4_096_000.0, False)
    assert twitter.max_clock_sequence == 0
    plain = Layout.parse("plain")
    assert (plain.max_datacenter, plain.max_worker, plain.split_node(5)) == (None, None, None)
    assert plain.preset_name == "plain"
    assert plain.with_epoch(5).preset_name is None
    assert Layout.parse("js-safe").fits_f64
    assert twitter.unix_ms_at(2**64 - 1) == twitter.horizon
    with pytest.raises(flakeid.BeforeEpochError):
        twitter.tick_at(0)


def test_stats_compare_and_count_waits(generator):
    assert repr(generator.stats()) == "Stats(waits=0, rollbacks=0, largest_ahead=0)"
    assert generator.stats() == generator.stats()
    generator.next_ids(5000)
    assert generator.stats().waits == 1
    assert repr(generator) == "<Generator node=569 layout=twitter>"
