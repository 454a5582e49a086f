"""Checks of tests/vectors/errors.json."""

import copy
import pickle

import pytest

import flakeid
from flakeid import errors


def test_exceptions_match_the_error_table(vectors):
    rows = vectors.rows("errors", "errors")
    assert [row["code"] for row in rows] == list(errors.CLASSES)
    for row in rows:
        error = errors.CLASSES[row["code"]]
        assert error is getattr(flakeid, row["python"])
        assert error.__name__ == row["python"]
        assert error.code == row["code"]
        assert issubclass(error, flakeid.FlakeIdError)
        assert issubclass(error, ValueError) is row.get("value_error", False)
        if base := row.get("python_base"):
            assert error.__base__ is getattr(flakeid, base)
        assert error.__doc__


def test_every_exception_is_exported_and_derives_from_the_base():
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, BaseException):
            assert getattr(flakeid, name) is value
            assert issubclass(value, flakeid.FlakeIdError)
            assert name in flakeid.__all__


def test_codes_only_for_c_have_no_exception(vectors):
    for row in vectors.rows("errors", "c_only"):
        assert row["code"] not in errors.CLASSES


def test_errors_contain_their_details(clock):
    generator = flakeid.Generator(node=0, clock=clock, rollback="error")
    generator.next_id()
    clock.set(clock.unix_ms - 5)
    with pytest.raises(flakeid.ClockRollbackError) as error:
        generator.next_id()
    assert (error.value.by, error.value.retry_after) == (0.005, 0.005)
    with pytest.raises(flakeid.HorizonReachedError) as horizon:
        flakeid.Generator(node=0, layout="baidu")
    assert horizon.value.horizon == flakeid.Layout.parse("baidu").horizon
    assert horizon.value.retry_after is None
    with pytest.raises(flakeid.FieldOutOfRangeError) as field:
        flakeid.Generator(node=1024)
    assert field.value.field == "node"
    assert str(field.value) == "node 1024 is out of range: must be from 0 to 1023"


@pytest.mark.parametrize("duplicate", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copied_errors_keep_code_and_details(clock, duplicate):
    generator = flakeid.Generator(node=0, clock=clock, rollback="error")
    generator.next_id()
    clock.set(clock.unix_ms - 5)
    with pytest.raises(flakeid.ClockRollbackError) as error:
        generator.try_next_id()
    same = duplicate(error.value)
    assert type(same) is flakeid.ClockRollbackError
    assert (str(same), same.code, same.by, same.retry_after) == (
        str(error.value),
        error.value.code,
        error.value.by,
        error.value.retry_after,
    )
