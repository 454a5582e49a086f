"""Checks of tests/vectors/layouts.json."""

from datetime import datetime

import pytest

import flakeid
from flakeid import Layout


def number(value):
    return None if value is None else int(value)


def code_of(error):
    return error.value.code, getattr(error.value, "field", None)


def generates(layout):
    try:
        flakeid.Generator(layout=layout, node=0, clock=flakeid.ManualClock(layout.epoch))
    except flakeid.InvalidLayoutError:
        return False
    return True


def test_presets_match_the_vectors(vectors):
    presets = vectors.rows("layouts", "presets")
    known = Layout.presets()
    assert [row["name"] for row in presets] == list(known)
    for row in presets:
        layout = known[row["name"]]
        assert layout == Layout.parse(row["name"]) == Layout.parse(row["descriptor"])
        assert layout.preset_name == row["name"]
        assert layout.descriptor == str(layout) == row["descriptor"]
        assert layout.width == row["width"]
        assert layout.max_tick == int(row["max_tick"])
        assert layout.max_node == int(row["max_node"])
        assert layout.max_sequence == int(row["max_sequence"])
        assert layout.ids_per_tick == int(row["ids_per_tick"])
        assert layout.horizon == int(row["horizon_unix_ms"])
        assert layout.timestamp(layout.horizon) == row["horizon"]
        assert layout.fits_i64_until == int(row["fits_i64_until_unix_ms"])
        assert layout.is_split is row["split"]
        assert layout.can_generate is row["generates"]


def test_descriptors_match_the_vectors(vectors):
    for row in vectors.rows("layouts", "descriptors", "valid"):
        layout = Layout.parse(row["text"])
        assert layout.descriptor == row["canonical"]
        assert Layout.parse(row["canonical"]) == layout
        assert hash(Layout.parse(row["canonical"])) == hash(layout)
        assert (layout.can_generate, generates(layout)) == (row["generates"],) * 2, row
    for row in vectors.rows("layouts", "descriptors", "invalid"):
        with pytest.raises(flakeid.InvalidLayoutError) as error:
            Layout.parse(row["text"])
        assert error.value.code == "FLAKEID_INVALID_LAYOUT", row


def test_ids_match_the_vectors(vectors):
    for row in vectors.rows("layouts", "ids"):
        layout, id = Layout.parse(row["layout"]), int(row["id"])
        parts = flakeid.decode(id, layout=row["layout"])
        assert parts == layout.unpack(id)
        fields = {
            name: number(row[name])
            for name in (
                "tick",
                "unix_ms",
                "node",
                "datacenter",
                "worker",
                "clock_sequence",
                "sequence",
            )
        }
        assert {name: getattr(parts, name) for name in fields} == fields, row
        assert layout.pack(**fields) == id, row
        by_tick = {name: fields[name] for name in fields if name not in ("unix_ms", "node")}
        if fields["datacenter"] is None:
            by_tick["node"] = fields["node"]
        else:
            pair = (fields["datacenter"], fields["worker"])
            assert layout.join_node(*pair) == fields["node"]
            assert layout.split_node(fields["node"]) == pair
        assert layout.pack(**by_tick) == id, row
        assert flakeid.to_bytes(id).hex() == row["bytes"]
        assert flakeid.from_bytes(bytes.fromhex(row["bytes"])) == id
        if row["timestamp"] is None:
            assert parts.timestamp is None
        else:
            assert parts.timestamp == datetime.fromisoformat(row["timestamp"]), row
            assert parts.timestamp.utcoffset().total_seconds() == 0
            assert layout.timestamp(parts.unix_ms) == row["timestamp"]
            assert layout.tick_at(parts.timestamp) == parts.tick


def test_layouts_reject_invalid_parts_and_ids(vectors):
    for row in vectors.rows("layouts", "rejected_parts"):
        fields = {name: int(row[name]) for name in ("tick", "node", "clock_sequence", "sequence")}
        with pytest.raises(flakeid.FlakeIdError) as error:
            Layout.parse(row["layout"]).pack(**fields)
        assert code_of(error) == (row["code"], row.get("field")), row
    for row in vectors.rows("layouts", "rejected_splits"):
        with pytest.raises(flakeid.FlakeIdError) as error:
            Layout.parse(row["layout"]).join_node(int(row["datacenter"]), int(row["worker"]))
        assert code_of(error) == (row["code"], row.get("field")), row
    for row in vectors.rows("layouts", "rejected_ids"):
        with pytest.raises(flakeid.FlakeIdError) as error:
            flakeid.decode(int(row["id"]), row["layout"])
        assert error.value.code == row["code"], row


def test_bounds_match_the_vectors(vectors):
    for row in vectors.rows("layouts", "bounds"):
        unix_ms = int(row["unix_ms"])
        layout = Layout.parse(row["layout"])
        expected = int(row["lower"]), int(row["upper"])
        assert (layout.lower_bound(unix_ms), layout.upper_bound(unix_ms)) == expected, row
        bounds = flakeid.lower_bound(unix_ms, layout), flakeid.upper_bound(unix_ms, str(layout))
        assert bounds == expected, row
