"""The interface of snowflake-id: the same results, but an ID where snowflake-id returns None."""

import datetime as dt
import itertools
import os
import time

import pytest

import flakeid
from flakeid.compat.snowflake_id import (
    MAX_INSTANCE,
    MAX_SEQ,
    MAX_TS,
    Snowflake,
    SnowflakeGenerator,
)

# Values from the tests of vd2org/snowflake.
EPOCH = 1288834974657


def test_parse_returns_the_parts_of_an_id():
    assert (MAX_TS, MAX_INSTANCE, MAX_SEQ) == (2**41 - 1, 1023, 4095)
    id = 910499571847892992
    parts = Snowflake.parse(id, EPOCH)
    assert parts == Snowflake(217080014192, 569, EPOCH, 0)
    assert (parts.value, int(parts), parts.milliseconds) == (id, id, 1505914988849)
    assert parts.seconds == 1505914988.849
    assert parts.datetime == dt.datetime(2017, 9, 20, 13, 43, 8, 849000)  # noqa: DTZ001
    assert parts.datetime_tz(dt.UTC) == parts.datetime.replace(tzinfo=dt.UTC)
    assert parts.timedelta == dt.timedelta(milliseconds=EPOCH)
    assert Snowflake.parse(id).epoch == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"timestamp": -1, "instance": 0},
        {"timestamp": MAX_TS + 1, "instance": 0},
        {"timestamp": 0, "instance": MAX_INSTANCE + 1},
        {"timestamp": 0, "instance": 0, "seq": MAX_SEQ + 1},
        {"timestamp": 0, "instance": 0, "epoch": -1},
    ],
)
def test_snowflake_rejects_parts_out_of_range(wrong):
    with pytest.raises(ValueError, match=r"must be from 0|layout"):
        Snowflake(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"instance": -1},
        {"instance": 1024},
        {"instance": 0, "seq": 4096},
        {"instance": 0, "epoch": -1},
        {"instance": 0, "epoch": 2**42},
        {"instance": 0, "timestamp": 2**42},
    ],
)
def test_generator_rejects_arguments_out_of_range(wrong):
    with pytest.raises(ValueError, match="must be from 0"):
        SnowflakeGenerator(**wrong)


def test_parse_rejects_numbers_out_of_range():
    for wrong in (-1, 2**63):
        with pytest.raises(flakeid.InvalidIdError):
            Snowflake.parse(wrong)


def test_next_waits_when_a_millisecond_is_full():
    generator = SnowflakeGenerator(1, epoch=EPOCH)
    assert iter(generator) is generator
    assert generator.epoch == EPOCH
    ids = list(itertools.islice(generator, 20_000))
    assert all(first < second for first, second in itertools.pairwise(ids))
    assert {Snowflake.parse(id, EPOCH).instance for id in ids} == {1}
    now = time.time() * 1000
    assert now - 60_000 < Snowflake.parse(ids[0], EPOCH).milliseconds <= now


def test_two_generators_of_one_instance_issue_distinct_ids():
    generators = [SnowflakeGenerator(2) for _ in range(2)]
    ids = [next(generator) for generator in generators * 5_000]
    assert len(set(ids)) == len(ids)


def test_generator_continues_after_an_id():
    id = next(SnowflakeGenerator(3, epoch=EPOCH))
    latest = Snowflake.parse(id, EPOCH)
    generator = SnowflakeGenerator.from_snowflake(latest)
    assert next(generator) > id
    assert (Snowflake.parse(next(generator), EPOCH).instance, generator.epoch) == (3, EPOCH)
    # The last ID of a millisecond, which may be the current one.
    now = int(time.time() * 1000)
    generator = SnowflakeGenerator(5, seq=MAX_SEQ, timestamp=now)
    assert Snowflake.parse(next(generator)).timestamp > now


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not support fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_next_raises_forked_error_in_a_forked_child():
    generator = SnowflakeGenerator(4)
    next(generator)
    child = os.fork()
    if child == 0:
        try:
            next(generator)
        except flakeid.ForkedError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0) == (child, 0)
