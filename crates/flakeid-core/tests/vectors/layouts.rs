use flakeid_core::{ErrorKind, Generator, GivenParts, Id, Layout, ManualClock, Parts};
use serde_json::Value;

use crate::{load, number, optional, rows, text};

fn layout(row: &Value) -> Layout {
    let text = text(row, "layout");
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Whether a generator for the layout can be built when the clock reads the layout's epoch.
fn generates(layout: Layout) -> bool {
    let clock = ManualClock::new(layout.epoch());
    Generator::builder(layout).node(0).clock(clock).build().is_ok()
}

#[test]
fn layout_presets_match_the_test_vectors() {
    let file = load("layouts");
    let presets = rows(&file, "presets");
    let names: Vec<_> = presets.iter().map(|row| text(row, "name")).collect();
    let known: Vec<_> = Layout::presets().iter().map(|(name, _)| *name).collect();
    assert_eq!(names, known);
    for (row, (name, layout)) in presets.iter().zip(Layout::presets()) {
        assert_eq!(layout.to_string(), text(row, "descriptor"));
        assert_eq!(layout.preset_name(), Some(*name));
        assert_eq!(u64::from(layout.width()), row["width"].as_u64().unwrap());
        assert_eq!(layout.max_tick(), number::<u64>(row, "max_tick"));
        assert_eq!(layout.max_node(), number::<u64>(row, "max_node"));
        assert_eq!(layout.max_sequence(), number::<u64>(row, "max_sequence"));
        assert_eq!(layout.ids_per_tick(), number::<u64>(row, "ids_per_tick"));
        assert_eq!(layout.horizon(), number::<i64>(row, "horizon_unix_ms"));
        assert_eq!(layout.timestamp(layout.horizon()).to_string(), text(row, "horizon"));
        assert_eq!(layout.fits_i64_until(), number::<i64>(row, "fits_i64_until_unix_ms"));
        assert_eq!(layout.is_split(), row["split"].as_bool().unwrap());
        assert_eq!(layout.can_generate(), row["generates"].as_bool().unwrap());
    }
}

#[test]
fn layout_descriptors_match_the_test_vectors() {
    let file = load("layouts");
    for row in rows(&file["descriptors"], "valid") {
        let layout: Layout =
            text(row, "text").parse().unwrap_or_else(|error| panic!("{row}: {error}"));
        let canonical = text(row, "canonical");
        assert_eq!(layout.to_string(), canonical);
        assert_eq!(canonical.parse::<Layout>().unwrap(), layout);
        let expected = row["generates"].as_bool().unwrap();
        assert_eq!((layout.can_generate(), generates(layout)), (expected, expected), "{row}");
    }
    for row in rows(&file["descriptors"], "invalid") {
        match text(row, "text").parse::<Layout>() {
            Ok(layout) => panic!("{row} was parsed as {layout}"),
            Err(error) => assert_eq!(error.code(), "FLAKEID_INVALID_LAYOUT", "{row}"),
        }
    }
}

#[test]
fn packed_and_unpacked_ids_match_the_test_vectors() {
    let file = load("layouts");
    for row in rows(&file, "ids") {
        let (layout, id) = (layout(row), Id::from_u64(number(row, "id")));
        let mut parts = Parts::default();
        parts.tick = number(row, "tick");
        parts.unix_ms = number(row, "unix_ms");
        parts.node = number(row, "node");
        parts.datacenter = optional(row, "datacenter");
        parts.worker = optional(row, "worker");
        parts.clock_sequence = number(row, "clock_sequence");
        parts.sequence = number(row, "sequence");
        assert_eq!(layout.unpack(id).unwrap(), parts, "{row}");
        assert_eq!(layout.pack(&parts).unwrap(), id, "{row}");
        if let (Some(datacenter), Some(worker)) = (parts.datacenter, parts.worker) {
            assert_eq!(layout.join_node(datacenter, worker).unwrap(), parts.node, "{row}");
        }
        assert_eq!(id.to_hex().as_str(), text(row, "bytes"), "{row}");
        assert_eq!(Id::from_be_bytes(id.to_be_bytes()), id);
        assert_eq!(Id::from_i64(id.to_i64()), id);
        if let Some(timestamp) = row["timestamp"].as_str() {
            assert_eq!(layout.timestamp(parts.unix_ms).to_string(), timestamp, "{row}");
        }
    }
}

#[test]
fn layout_rejects_every_invalid_input_of_the_test_vectors() {
    let file = load("layouts");
    for row in rows(&file, "rejected_parts") {
        let layout = layout(row);
        let mut parts = Parts::default();
        parts.tick = number(row, "tick");
        parts.unix_ms = layout.unix_ms_at(parts.tick);
        parts.node = number(row, "node");
        parts.clock_sequence = number(row, "clock_sequence");
        parts.sequence = number(row, "sequence");
        let error = layout.pack(&parts).unwrap_err();
        assert_eq!((error.code(), error.field()), (text(row, "code"), row["field"].as_str()));
    }
    for row in rows(&file, "rejected_splits") {
        let (datacenter, worker) = (number(row, "datacenter"), number(row, "worker"));
        let error = layout(row).join_node(datacenter, worker).unwrap_err();
        assert_eq!((error.code(), error.field()), (text(row, "code"), row["field"].as_str()));
    }
    for row in rows(&file, "rejected_ids") {
        let error = layout(row).unpack(Id::from_u64(number(row, "id"))).unwrap_err();
        assert_eq!(error.code(), text(row, "code"), "{row}");
    }
}

#[test]
fn id_bounds_match_the_test_vectors() {
    let file = load("layouts");
    for row in rows(&file, "bounds") {
        let (layout, unix_ms) = (layout(row), number(row, "unix_ms"));
        assert_eq!(layout.lower_bound(unix_ms).to_u64(), number::<u64>(row, "lower"), "{row}");
        assert_eq!(layout.upper_bound(unix_ms).to_u64(), number::<u64>(row, "upper"), "{row}");
        // For every ID of a tick, `tick_above` returns the next tick, or `None` if the tick is the layout's last tick.
        let next = layout.unpack(layout.upper_bound(unix_ms)).unwrap().tick + 1;
        let above = (next <= layout.max_tick()).then_some(next);
        assert_eq!(layout.tick_above(layout.upper_bound(unix_ms)), above, "{row}");
        assert_eq!(layout.tick_above(layout.lower_bound(unix_ms)), above, "{row}");
    }
}

/// Checks that `tick_above` compares IDs from other layouts as plain numbers.
#[test]
fn ids_of_other_layouts_are_compared_as_plain_numbers() {
    for (id, layout) in [
        (873_739_216_556_229, Layout::TWITTER),
        (647_469_744_588_332_839, Layout::TWITTER),
        (2_124_904_305_097_330_688, Layout::FLAKEID),
        (0, Layout::INSTAGRAM),
    ] {
        let tick = layout.tick_above(Id::from_u64(id)).unwrap();
        let first = layout.lower_bound(layout.unix_ms_at(tick)).to_u64();
        let before = layout.upper_bound(layout.unix_ms_at(tick - 1)).to_u64();
        assert!(before >= id && first > id, "{id} {layout}");
    }
    assert_eq!(Layout::JS_SAFE.tick_above(Id::from_u64(1 << 53)), None);
    assert_eq!(Layout::TWITTER.tick_above(Id::from_u64(u64::MAX)), None);
}

/// Checks that `complete` derives missing parts. If a missing part cannot be derived, the error must name the part.
#[test]
fn missing_parts_of_an_id_are_derived_or_named_in_the_error() {
    let layout = Layout::TWITTER;
    let id = Id::from_u64(910_499_571_847_892_992);
    let parts = layout.unpack(id).unwrap();
    let (mut by_tick, mut by_time) = (GivenParts::default(), GivenParts::default());
    by_tick.tick = Some(parts.tick);
    by_time.unix_ms = Some(parts.unix_ms);
    for given in [by_tick, by_time] {
        let (mut whole, mut half) = (given, given);
        whole.node = Some(parts.node);
        half.datacenter = parts.datacenter;
        let mut split = half;
        split.worker = parts.worker;
        for mut given in [whole, split] {
            given.sequence = Some(parts.sequence);
            let complete = layout.complete(&given).unwrap();
            assert_eq!(layout.pack(&complete).unwrap(), id, "{given:?}");
        }
        for (given, option) in [(given, "node"), (half, "node"), (GivenParts::default(), "tick")] {
            let refused = layout.complete(&given).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidOption);
            assert!(refused.to_string().contains(&format!("{option}: missing")), "{refused}");
        }
    }
    // The datacenter contradicts the node, so `pack` must reject the parts.
    let mut other = by_tick;
    (other.node, other.datacenter) = (Some(0), parts.datacenter);
    let contradiction = layout.pack(&layout.complete(&other).unwrap()).unwrap_err();
    assert_eq!(contradiction.kind(), ErrorKind::InvalidOption);
    let without_a_node: Layout = "t41.s22@0/1ms".parse().unwrap();
    assert_eq!(without_a_node.complete(&by_time).unwrap().node, 0);
}
