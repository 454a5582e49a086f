"""Invalid input of every kind raises the documented error and changes nothing."""

import datetime as dt
import math
from decimal import Decimal

import numpy
import pytest

import flakeid
from flakeid import Layout

NOT_INTEGERS = [True, False, 1.0, math.nan, "1", b"1", None, [1], (1,), Decimal(1), 1j, object()]
OUTSIDE = [-1, 2**64, 10**30, -(10**30), 10**5000, -(2**63)]


@pytest.mark.parametrize("value", NOT_INTEGERS, ids=repr)
@pytest.mark.parametrize(
    "encode", [flakeid.decode, flakeid.to_bytes, flakeid.to_decimal, flakeid.to_base62]
)
def test_encoders_reject_ids_of_a_wrong_type(encode, value):
    with pytest.raises(TypeError, match="id must be an int, not"):
        encode(value)


@pytest.mark.parametrize("value", OUTSIDE, ids=lambda value: hex(value)[:10])
@pytest.mark.parametrize(
    "encode", [flakeid.decode, flakeid.to_bytes, flakeid.to_decimal, flakeid.to_base62]
)
def test_encoders_reject_ids_out_of_range(encode, value):
    with pytest.raises(flakeid.InvalidIdError, match=r"^id .*from 0 to 18446744073709551615"):
        encode(value)


@pytest.mark.parametrize("option", ["node", "datacenter", "worker", "sequence_mask", "epoch"])
@pytest.mark.parametrize("value", [v for v in NOT_INTEGERS if v is not None], ids=repr)
def test_generator_rejects_nodes_of_a_wrong_type(option, value):
    with pytest.raises(TypeError, match=f"{option} must be an int, not"):
        flakeid.Generator(**{option: value})


@pytest.mark.parametrize("value", [1024, *OUTSIDE], ids=lambda value: hex(value)[:10])
@pytest.mark.parametrize(
    ("option", "others", "most"),
    [
        ("node", {}, 1023),
        ("datacenter", {"worker": 0}, 31),
        ("worker", {"datacenter": 0}, 31),
        ("sequence_start", {"node": 1}, 12),
    ],
)
def test_generator_rejects_fields_out_of_range(option, others, most, value):
    with pytest.raises(flakeid.FieldOutOfRangeError, match=f"must be from 0 to {most}") as error:
        flakeid.Generator(**{option: value}, **others)
    assert error.value.field == option


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, flakeid.InvalidOptionError, "node: missing"),
        ({"node": 1, "worker": 1}, flakeid.InvalidOptionError, "not both"),
        ({"node": 1, "datacenter": 1}, flakeid.InvalidOptionError, "not both"),
        ({"datacenter": 1}, flakeid.InvalidOptionError, "worker: missing"),
        ({"worker": 1}, flakeid.InvalidOptionError, "datacenter: missing"),
        (
            {"datacenter": 1, "worker": 1, "layout": "plain"},
            flakeid.InvalidOptionError,
            "does not split",
        ),
        ({"node": 1, "layout": "twiter"}, flakeid.InvalidLayoutError, "neither a preset"),
        ({"node": 1, "layout": ""}, flakeid.InvalidLayoutError, "neither a preset"),
        ({"node": 1, "layout": "\ud800"}, flakeid.InvalidLayoutError, "neither a preset"),
        ({"node": 1, "layout": "baidu"}, flakeid.HorizonReachedError, "2024-11-20T13:24:16Z"),
        ({"node": 1, "epoch": -1}, flakeid.InvalidLayoutError, "epoch"),
        ({"node": 1, "epoch": 10**30}, flakeid.InvalidOptionError, "epoch"),
        ({"node": 1, "sequence_mask": 5}, flakeid.InvalidOptionError, "2\\^k - 1"),
        ({"node": 1, "sequence_mask": 8191}, flakeid.InvalidOptionError, "4095"),
        ({"node": 1, "sequence_mask": 2**64}, flakeid.FieldOutOfRangeError, "4095"),
        ({"node": 1, "overflow": "later"}, flakeid.InvalidOptionError, "wait, error or borrow"),
        ({"node": 1, "overflow": "borrow"}, flakeid.InvalidOptionError, "leased window"),
        ({"node": 1, "rollback": "Error"}, flakeid.InvalidOptionError, "rollback: must be"),
        ({"node": 1, "rollback": "clock-sequence"}, flakeid.InvalidOptionError, "layout with"),
        ({"node": 1, "window": (5, 6)}, flakeid.InvalidOptionError, "at least 2 ticks"),
        ({"node": 1, "window": (2**64, 5)}, flakeid.FieldOutOfRangeError, r"window\[0\]"),
        ({"node": 1, "window": (0, -1)}, flakeid.FieldOutOfRangeError, r"window\[1\]"),
        ({"node": 1, "max_wait": -1}, flakeid.InvalidOptionError, "max_wait"),
        ({"node": 1, "max_wait": -0.5}, flakeid.InvalidOptionError, "max_wait"),
        ({"node": 1, "max_wait": math.nan}, flakeid.InvalidOptionError, "max_wait"),
        ({"node": 1, "max_wait": math.inf}, flakeid.InvalidOptionError, "max_wait"),
        ({"node": 1, "max_wait": 2**64}, flakeid.InvalidOptionError, "max_wait"),
        ({"node": 1, "max_ahead": 1e300}, flakeid.InvalidOptionError, "max_ahead"),
        (
            {"node": 1, "max_ahead": dt.timedelta(microseconds=-1)},
            flakeid.InvalidOptionError,
            "max_ahead",
        ),
    ],
    ids=str,
)
def test_generator_rejects_invalid_options(options, error, text):
    with pytest.raises(error, match=text) as caught:
        flakeid.Generator(**options)
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_wait": -1}, "max_wait: must be finite, not negative"),
        ({"window": (2**64, 5)}, "window[0] 18446744073709551616 is out of range"),
        ({"worker": 1}, "give either `node`, or `datacenter` with `worker`"),
        ({"sequence_mask": 5}, "sequence_mask: 5 must be 2^k - 1"),
    ],
    ids=str,
)
def test_messages_name_arguments(options, text):
    with pytest.raises(flakeid.FlakeIdError) as error:
        flakeid.Generator(node=1, **options)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"layout": 1}, "layout must be a Layout or a str, not int"),
        ({"layout": b"twitter"}, "layout must be a Layout or a str, not bytes"),
        ({"overflow": 1}, "overflow must be a str, not int"),
        ({"rollback": b"error"}, "rollback must be a str, not bytes"),
        ({"max_wait": "1"}, "max_wait must be seconds .* not str"),
        ({"max_wait": True}, "max_wait must be seconds .* not bool"),
        ({"max_ahead": Decimal(1)}, "max_ahead must be seconds .* not decimal.Decimal|not Decimal"),
        ({"window": [1, 5]}, "window must be a tuple .* not list"),
        ({"window": (1,)}, "window must be a tuple"),
        ({"window": (1, 2, 3)}, "window must be a tuple"),
        ({"window": (1.0, 5)}, r"window\[0\] must be an int, not float"),
        ({"window": (1, "5")}, r"window\[1\] must be an int, not str"),
        ({"sequence_start": 1.0}, "sequence_start must be an int, not float"),
        ({"node_count": 1}, "unexpected keyword argument 'node_count'"),
    ],
    ids=str,
)
def test_generator_rejects_options_of_a_wrong_type(options, text):
    with pytest.raises(TypeError, match=text):
        flakeid.Generator(node=1, **options)


def test_generator_rejects_positional_arguments():
    with pytest.raises(TypeError, match="positional"):
        flakeid.Generator(7)


def test_failed_calls_change_nothing(generator, clock):
    first = generator.next_id()
    before = generator.stats(), clock.unix_ms
    for call, argument in [
        (generator.next_ids, -1),
        (generator.next_ids, 2**64),
        (generator.next_ids, 1.0),
        (generator.next_ids, True),
        (generator.fill, b"12345678"),
        (generator.fill, [0] * 8),
        (generator.try_fill, bytearray(8)),
        (generator.try_fill, None),
        (generator.extend, 10),
        (generator.extend, -1),
        (generator.extend, "1"),
        (clock.set, 2**63),
        (clock.set, 1.0),
        (clock.advance, -1),
        (clock.advance, "1"),
    ]:
        with pytest.raises((flakeid.FlakeIdError, TypeError, BufferError)):
            call(argument)
    assert (generator.stats(), clock.unix_ms) == before
    assert generator.next_id() == first + 1


def test_next_ids_rejects_counts_out_of_range():
    generator = flakeid.Generator(node=3, clock=flakeid.ManualClock(1_505_914_988_849))
    for n in (-1, 2**63, 10**30):
        with pytest.raises(flakeid.FieldOutOfRangeError, match=f"n {n} is out of range"):
            generator.next_ids(n)
    with pytest.raises(MemoryError, match="not enough memory for a list of"):
        generator.next_ids(2**62)
    assert generator.next_ids(0) == []
    assert len(generator.next_ids(numpy.int64(3))) == 3


def test_bounds_reject_naive_and_invalid_instants():
    for bound in (flakeid.lower_bound, flakeid.upper_bound, Layout.parse("plain").tick_at):
        with pytest.raises(flakeid.InvalidOptionError, match="time zone"):
            bound(dt.datetime(2026, 1, 1))  # noqa: DTZ001 - naive on purpose
        for value in (1.0, "2026-01-01T00:00:00Z", None, dt.date(2026, 1, 1), b""):
            with pytest.raises(TypeError, match="aware datetime or Unix milliseconds"):
                bound(value)
        with pytest.raises(TypeError, match="when must be an int, not bool"):
            bound(True)
        for value in (2**63, -(2**63) - 1, 10**30):
            with pytest.raises(flakeid.InvalidOptionError, match="signed 64-bit"):
                bound(value)


@pytest.mark.parametrize("call", [flakeid.decode, flakeid.lower_bound, flakeid.upper_bound])
def test_every_layout_argument_rejects_invalid_layouts(call):
    for layout in ("twiter", "", "TWITTER", "twitter ", "x" * 100_000, "t41.n10.s12@0/1ms\0"):
        with pytest.raises(flakeid.InvalidLayoutError, match=r"^layout "):
            call(1, layout)
        with pytest.raises(flakeid.InvalidLayoutError, match=r"^layout "):
            Layout.parse(layout)
    for layout in (1, b"twitter", True, ["twitter"], Layout):
        with pytest.raises(TypeError, match="layout must be a Layout or a str, not"):
            call(1, layout)


def test_decoders_reject_values_of_a_wrong_type():
    for decode in (flakeid.from_decimal, flakeid.from_base62, flakeid.from_hex, Layout.parse):
        for value in (1, b"1", None, 1.5, ["1"]):
            with pytest.raises(TypeError, match="text must be a str, not"):
                decode(value)
    for value in (1, "12345678", None, [1] * 8):
        with pytest.raises(TypeError):
            flakeid.from_bytes(value)


def test_pack_rejects_incomplete_and_conflicting_fields():
    twitter = Layout.parse("twitter")
    for fields, error in [
        ({"node": 1}, flakeid.InvalidOptionError),
        ({"tick": 1}, flakeid.InvalidOptionError),
        ({"tick": 1, "worker": 1}, flakeid.InvalidOptionError),
        ({"tick": 1, "node": 1, "worker": 2}, flakeid.InvalidOptionError),
        ({"tick": 1, "unix_ms": 1_505_914_988_849, "node": 1}, flakeid.InvalidOptionError),
        ({"unix_ms": 0, "node": 1}, flakeid.BeforeEpochError),
        ({"unix_ms": 2**62, "node": 1}, flakeid.HorizonReachedError),
        ({"tick": -1, "node": 1}, flakeid.FieldOutOfRangeError),
        ({"tick": 1, "node": 2**64}, flakeid.FieldOutOfRangeError),
        ({"tick": 1, "datacenter": 32, "worker": 0}, flakeid.FieldOutOfRangeError),
        ({"tick": 1, "node": 1, "sequence": 4096}, flakeid.FieldOutOfRangeError),
        ({"tick": 1, "node": 1, "clock_sequence": 1}, flakeid.FieldOutOfRangeError),
        ({"tick": 1.0, "node": 1}, TypeError),
        ({"tick": 1, "node": True}, TypeError),
    ]:
        with pytest.raises(error):
            twitter.pack(**fields)


def test_exceptions_of_python_callbacks_pass_unchanged():
    class Broken:
        def __index__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        flakeid.decode(Broken())


@pytest.mark.parametrize(
    "call",
    [
        Layout.parse,
        flakeid.from_base62,
        lambda url: flakeid.Generator(node=1, layout=url),
        lambda url: flakeid.Generator(node=1, overflow=url),
        lambda url: flakeid.lease("sqlite://x.db", namespace=url),
    ],
)
def test_errors_show_only_the_scheme_of_a_misplaced_store_url(call):
    with pytest.raises(flakeid.FlakeIdError, match="postgresql://…") as caught:
        call("postgresql://ada:s3cret@127.0.0.1:1/db")
    assert "s3cret" not in f"{caught.value!r} {caught.value}"
