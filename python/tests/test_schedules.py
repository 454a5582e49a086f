"""Checks of tests/vectors/schedules.json: scripted clock readings, and their IDs or errors."""

from array import array

import pytest

import flakeid

MILLISECOND = 0.001


def number(row, key):
    return None if row.get(key) is None else int(row[key])


def build(row, clock):
    options = dict(row["options"])
    for name in ("max_ahead", "max_wait"):
        if (ms := options.pop(f"{name}_ms", None)) is not None:
            options[name] = int(ms) * MILLISECOND
    if "sequence_mask" in options:
        options["sequence_mask"] = int(options["sequence_mask"])
    if (window := row["window"]) is not None:
        options["window"] = (int(window["start"]), int(window["fence"]))
    return flakeid.Generator(layout=row["layout"], node=int(row["node"]), clock=clock, **options)


def call(generator, step):
    method = getattr(generator, step["call"])
    if step["call"] in ("fill", "try_fill"):
        ids = array("Q", bytes(8 * step["n"]))
        count = method(ids)
        assert not any(ids[count:]), "wrote past the count"
        first, last = (ids[0], ids[count - 1]) if count else (None, None)
        return {"count": count, "first": first, "last": last}
    if step["call"] == "extend":
        assert method(int(step["fence"])) is None
        return {}
    return {{"retire": "last_tick"}.get(step["call"], "id"): method()}


def described(error):
    ms = {"retry_after_ms": error.retry_after, "by_ms": getattr(error, "by", None)}
    found = {name: int(s * 1000 + 1e-6) for name, s in ms.items() if s is not None}
    if hasattr(error, "horizon"):
        found["horizon"] = error.horizon
    return {"error": error.code, **found}


def told(expect):
    return {
        name: int(value) if isinstance(value, str) and name != "error" else value
        for name, value in expect.items()
    }


def test_generator_follows_every_schedule(vectors):
    for row in vectors.rows("schedules", "schedules"):
        clock = flakeid.ManualClock(int(row["clock"]))
        if expected := row.get("build_error"):
            with pytest.raises(flakeid.FlakeIdError) as error:
                build(row, clock)
            assert error.value.code == expected["code"], row["name"]
            assert getattr(error.value, "field", None) == expected.get("field"), row["name"]
            continue
        generator = build(row, clock)
        assert row["steps"], row["name"]
        for index, step in enumerate(row["steps"]):
            place = f"{row['name']}, step {index}: {step}"
            if "clock" in step:
                clock.set(int(step["clock"]))
            try:
                outcome = call(generator, step)
            except flakeid.FlakeIdError as error:
                outcome = described(error)
            assert outcome == told(step["expect"]), place
            assert clock.unix_ms == int(step["clock_after"]), place
        stats = generator.stats()
        found = {name: getattr(stats, name) for name in ("waits", "rollbacks", "largest_ahead")}
        assert found == told(row["stats"]), row["name"]


def test_next_ids_follows_every_schedule(vectors):
    """`next_ids` returns the same IDs and raises the same errors as `fill`."""
    filled = 0
    for row in vectors.rows("schedules", "schedules"):
        if row.get("build_error"):
            continue
        clock = flakeid.ManualClock(int(row["clock"]))
        generator = build(row, clock)
        for step in row["steps"]:
            if "clock" in step:
                clock.set(int(step["clock"]))
            place, expect = f"{row['name']}: {step}", told(step["expect"])
            try:
                if step["call"] == "fill":
                    ids = generator.next_ids(step["n"])
                    first, last = (ids[0], ids[-1]) if ids else (None, None)
                    outcome = {"count": len(ids), "first": first, "last": last}
                    filled += 1
                else:
                    outcome = call(generator, step)
            except flakeid.FlakeIdError as error:
                outcome = described(error)
            assert outcome == expect, place
    assert filled
