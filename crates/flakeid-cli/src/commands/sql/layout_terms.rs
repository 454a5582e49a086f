//! The template terms that describe a layout in an SQL script: the numbers of the layout, and the
//! SQL expressions that decode and compose IDs.

use std::time::Duration;

use flakeid_core::{Field, Id, Layout, Rfc3339, TextForm};
use flakeid_json::layout_name;

/// A placeholder in a template and the value that replaces it.
pub(super) type Term = (&'static str, String);

/// A field for which the script defines a function: the field's name, and an SQL expression that
/// extracts the field from `id`.
pub(super) struct FieldTerm {
    pub(super) name: &'static str,
    pub(super) of_id: String,
}

/// Returns the template terms that every script uses.
pub(super) fn common(layout: &Layout) -> Vec<Term> {
    let (tick_shift, _) = span(layout, &[Field::Time]);
    let below_tick = layout.upper_bound(i64::MIN).to_i64();
    let timestamp = layout.timestamp(layout.epoch()).to_string();
    vec![
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("descriptor", layout.to_string()),
        ("layout_name", layout_name(layout)),
        ("epoch", Rfc3339::with_fewest_digits(layout.epoch()).to_string()),
        ("epoch_ms", layout.epoch().to_string()),
        ("unit_ms", layout.unit_ms().to_string()),
        ("horizon", Rfc3339::with_fewest_digits(layout.horizon()).to_string()),
        ("max_tick", layout.max_tick().to_string()),
        ("max_node", layout.max_node().to_string()),
        ("tick_shift", tick_shift.to_string()),
        ("tick_of_id", extract(layout, &[Field::Time])),
        ("below_tick", below_tick.to_string()),
        // The length does not include the final Z: 2017-09-20T13:43:08.849 has 23 characters.
        ("timestamp_length", (timestamp.len() - 1).to_string()),
    ]
}

/// Returns the fields below the time field, in the order of their functions in the script.
pub(super) fn fields(layout: &Layout) -> Vec<FieldTerm> {
    let has = |field| layout.fields().any(|span| span.field == field);
    let parts: [(&'static str, &[Field], bool); 5] = [
        ("node", &[Field::Node, Field::Datacenter, Field::Worker], true),
        ("datacenter", &[Field::Datacenter], layout.is_split()),
        ("worker", &[Field::Worker], layout.is_split()),
        ("clock_sequence", &[Field::ClockSequence], has(Field::ClockSequence)),
        ("sequence", &[Field::Sequence], true),
    ];
    let wanted = parts.into_iter().filter(|(_, _, is_there)| *is_there);
    wanted.map(|(name, fields, _)| FieldTerm { name, of_id: extract(layout, fields) }).collect()
}

/// The encoding of a generator's position as an integer. `postgres/next.sql` and `mariadb/next.sql`
/// explain the encoding.
pub(super) struct Places {
    /// The number of bits that identify a place within a tick's slot.
    pub(super) slot_bits: u32,
    /// The number of usable places in each slot. Only usable places become IDs.
    pub(super) usable: u64,
    /// The last tick that has a slot.
    pub(super) last_tick: u64,
}

impl Places {
    /// The minimum number of spare values in each slot. Spare values never become IDs: each session
    /// takes at most one spare value, and a crash skips 32 values. The number of spare values
    /// therefore exceeds the largest number of sessions (262,143) plus 32.
    pub(super) const SPARE: u64 = 300_000;

    /// The largest number of bits for the tick. With ticks of 1 ms, 44 bits are sufficient for
    /// 557 years. The slots get all remaining bits, because the encoding has no other parts.
    const TICK_BITS: u32 = 44;

    pub(super) fn of(layout: &Layout) -> Self {
        let last_tick = layout.max_tick().min((1 << Self::TICK_BITS) - 1);
        let slot_bits = last_tick.leading_zeros() - 1;
        let usable = layout.ids_per_tick().min((1 << slot_bits) - Self::SPARE);
        Self { slot_bits, usable, last_tick }
    }
}

/// Returns the longest time that a call waits for an ID. The limit is the same as in
/// `flakeid-core`.
fn max_wait(layout: &Layout) -> Duration {
    Duration::from_secs(1).max(Duration::from_millis(layout.unit_ms()).saturating_mul(2))
}

/// Returns the SQL expression for the ID at a place. `place` and `node` are also SQL expressions.
pub(super) fn id_of_place(layout: &Layout, places: &Places, place: &str, node: &str) -> String {
    let (tick_shift, _) = span(layout, &[Field::Time]);
    let (sequence_shift, _) = span(layout, &[Field::Sequence]);
    let slot_mask = (1_u64 << places.slot_bits) - 1;
    let mut terms = vec![format!("({place} >> {} << {tick_shift})", places.slot_bits)];
    let (node_shift, node_width) = span(layout, &[Field::Node, Field::Datacenter, Field::Worker]);
    if node_width > 0 {
        terms.push(format!("({node} << {node_shift})"));
    }
    terms.push(format!("(({place} & {slot_mask}) << {sequence_shift})"));
    format!("({})", terms.join(" | "))
}

pub(super) fn sequence_shift(layout: &Layout) -> u32 {
    span(layout, &[Field::Sequence]).0
}

/// The template terms for a text form that writes an ID as a number: its name, its digits, the characters that are
/// accepted in place of digits, and its minimum and maximum length.
pub(super) struct FormTerm {
    pub(super) name: &'static str,
    pub(super) alphabet: String,
    pub(super) typed: String,
    pub(super) meant: String,
    pub(super) fewest: usize,
    pub(super) most: usize,
}

/// Returns the template terms for all text forms except UUIDs, which have separate functions.
/// `flakeid-core` determines which characters are digits, and which other characters are accepted
/// in place of digits.
fn forms() -> Vec<FormTerm> {
    let numbers = TextForm::ALL.into_iter().filter(|form| *form != TextForm::Uuid);
    let term = |form: TextForm| {
        let digits = |value| form.encode(Id::from_u64(value));
        let last = |value| digits(value).chars().next_back();
        let radix = (1..64).find(|value| last(*value) == last(0)).unwrap_or(64);
        let alphabet: String = (0..radix).filter_map(last).collect();
        let (most, padding) = (digits(u64::MAX).len(), digits(0));
        let fewest = padding.len();
        let others = (b'!'..=b'~').map(char::from).filter(|typed| !alphabet.contains(*typed));
        let meant = others.filter_map(|typed| {
            let value = form.decode(&format!("{}{typed}", &padding[..fewest - 1])).ok()?;
            Some((typed, last(value.to_u64())?))
        });
        let (typed, meant): (String, String) = meant.unzip();
        FormTerm { name: form.name(), alphabet, typed, meant, fewest, most }
    };
    numbers.map(term).collect()
}

/// Returns the branches of an SQL `CASE` statement that handle the text forms.
pub(super) fn form_branches(branch: impl Fn(FormTerm) -> String) -> String {
    forms().into_iter().map(branch).collect::<Vec<_>>().join("\n")
}

/// Returns the SQL calls for the fields that only some layouts have, with `missing` in place of
/// each absent field.
pub(super) fn optional_fields(
    fields: &[FieldTerm],
    call: impl Fn(&str) -> String,
    missing: &str,
) -> Vec<Term> {
    let term = |name: &'static str| {
        let is_there = fields.iter().any(|field| field.name == name);
        (name, if is_there { call(name) } else { missing.to_owned() })
    };
    ["datacenter", "worker", "clock_sequence"].map(term).into()
}

/// Returns the template terms for the encoding of positions.
pub(super) fn counting(layout: &Layout, places: &Places) -> Vec<Term> {
    vec![
        ("slot_bits", places.slot_bits.to_string()),
        ("slot_mask", ((1_u64 << places.slot_bits) - 1).to_string()),
        ("usable", places.usable.to_string()),
        ("last_usable", (places.usable - 1).to_string()),
        ("last_tick", places.last_tick.to_string()),
        ("max_wait_ms", max_wait(layout).as_millis().to_string()),
    ]
}

/// Returns the names of the text forms as a list for use in a sentence.
pub(super) fn form_names() -> String {
    let [first @ .., last] = TextForm::ALL.map(TextForm::name);
    format!("{} or {last}", first.join(", "))
}

/// Returns the shift and the combined width of the given adjacent fields. Both numbers are 0 if the
/// layout has none of these fields.
fn span(layout: &Layout, fields: &[Field]) -> (u32, u32) {
    let spans = || layout.fields().filter(|span| fields.contains(&span.field));
    let shift = spans().map(|span| span.shift.into()).min().unwrap_or(0);
    (shift, spans().map(|span| u32::from(span.width)).sum())
}

fn extract(layout: &Layout, fields: &[Field]) -> String {
    let (shift, width) = span(layout, fields);
    if width == 0 {
        return "0".to_owned();
    }
    format!("(id >> {shift}) & {}", u64::MAX >> (64 - width))
}

/// Returns a mask of the bits that are 0 in every ID of the layout.
pub(super) fn stray(layout: &Layout) -> u64 {
    let used = layout.fields().map(|span| span.max() << span.shift).fold(0, |all, bits| all | bits);
    !used
}
