//! The script for `PostgreSQL`: functions that decode and generate IDs, and seal and open public
//! IDs.

use flakeid_core::{Error, Layout};

use super::claim::DatabaseNode;
use super::layout_terms::{self, FormTerm, Places, Term};
use super::template::{check_name, fill};

const BEGIN: &str = include_str!("postgres/begin.sql");
const NODE_GUARD: &str = include_str!("postgres/node_guard.sql");
const DECODE: &str = include_str!("postgres/decode.sql");
const FIELD: &str = include_str!("postgres/field.sql");
const BOUNDS: &str = include_str!("postgres/bounds.sql");
const UUID: &str = include_str!("postgres/uuid.sql");
const TEXT: &str = include_str!("postgres/text.sql");
const INSPECT: &str = include_str!("postgres/inspect.sql");
const KEYED: &str = include_str!("postgres/keyed.sql");
const NEXT: &str = include_str!("postgres/next.sql");
const END: &str = include_str!("postgres/end.sql");

/// The maximum length of a schema's name in bytes.
const LONGEST_NAME: usize = 63;

/// The class ID ("flak" in ASCII) of the advisory lock that a session holds while it opens a slot.
/// The lock's object ID is the OID of the sequence.
const LOCK_CLASS: u32 = 0x666c_616b;

/// The SQL expression for the current time in Unix milliseconds. The expression adds half a
/// microsecond, because the floating-point result of `date_part` may be slightly below a whole
/// millisecond.
const CLOCK_MS: &str = "date_part('epoch', clock_timestamp()) * 1000 + 0.0005";

/// Returns the complete script. If `node` is given, the script contains functions that generate
/// IDs. If `keyed` is set, the script contains functions that seal and open public IDs.
///
/// # Errors
/// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the schema has an unsupported name.
pub(super) fn script(
    layout: &Layout,
    schema: &str,
    node: Option<&DatabaseNode>,
    keyed: bool,
) -> Result<String, Error> {
    let mut terms = layout_terms::common(layout);
    terms.push(("schema", quoted(schema)?));
    let fields = layout_terms::fields(layout);
    let call = |name: &str| fill(&format!("{{{{schema}}}}.flakeid_{name}(id)"), &terms);
    let optional = layout_terms::optional_fields(&fields, call, "NULL::bigint");
    terms.extend(optional);
    terms.push(("stray", format!("('{}')::bigint", layout_terms::stray(layout).cast_signed())));
    terms.push(("forms", layout_terms::form_branches(branch)));
    terms.push(("form_names", layout_terms::form_names()));
    if let Some(node) = node {
        terms.extend(generator_terms(layout, node, &terms));
    }
    let header = node.map_or(String::new(), |node| format!(", node {}{}", node.node, node.origin));
    terms.push(("header_node", header));
    let guard = node.map_or(String::new(), |_| fill(NODE_GUARD, &terms));
    terms.push(("guard_node", guard));

    let mut text = fill(BEGIN, &terms) + &fill(DECODE, &terms);
    for field in fields {
        let own = [("field", field.name.to_owned()), ("field_of_id", field.of_id)];
        text += &fill(&fill(FIELD, &own), &terms);
    }
    for part in [BOUNDS, UUID, TEXT, INSPECT] {
        text += &fill(part, &terms);
    }
    if keyed {
        text += &fill(KEYED, &terms);
    }
    if node.is_some() {
        text += &fill(NEXT, &terms);
    }
    Ok(text + END)
}

/// Returns the terms that replace the placeholders in `postgres/next.sql`.
fn generator_terms(layout: &Layout, node: &DatabaseNode, terms: &[Term]) -> Vec<Term> {
    let places = Places::of(layout);
    let own_node = fill("{{schema}}.flakeid_own_node()", terms);
    let (epoch, unit) = (layout.epoch(), layout.unit_ms());
    let clock_tick = format!("floor(({CLOCK_MS} - {epoch}) / {unit})::bigint");
    let id_of = |place| layout_terms::id_of_place(layout, &places, place, &own_node);
    // A tick above `last_tick` is replaced with `last_tick + 1`, which has no slot. A database that
    // starts at this tick reports that the layout has no ticks left.
    let first = |tick: u64| tick.min(places.last_tick + 1);
    let rearm_arguments = match node.first_tick_of_new {
        0 => node.node.to_string(),
        tick => format!("{}, {}", node.node, tick.min(places.last_tick)),
    };
    let mut own = layout_terms::counting(layout, &places);
    own.extend([
        ("node", node.node.to_string()),
        ("this_position", fill("'{{schema}}.flakeid_position'::regclass::oid", terms)),
        ("rearm_arguments", rearm_arguments),
        ("first_tick", first(node.first_tick).to_string()),
        ("first_tick_of_new", first(node.first_tick_of_new).to_string()),
        ("spare", Places::SPARE.to_string()),
        ("lock_class", LOCK_CLASS.to_string()),
        ("clock_ms", format!("floor({CLOCK_MS})::bigint")),
        ("clock_tick", clock_tick),
        ("sequence_shift", layout_terms::sequence_shift(layout).to_string()),
        ("id_of_place", id_of("place")),
        ("id_of_p", id_of("p")),
    ]);
    own
}

/// Returns the branch of an SQL `CASE` statement that handles the given text form.
fn branch(form: FormTerm) -> String {
    let FormTerm { name, alphabet, typed, meant, fewest, most } = form;
    format!(
        "  WHEN '{name}' THEN\n    alphabet := '{alphabet}'; typed := '{typed}'; meant := '{meant}';\n    \
         fewest := {fewest}; most := {most};"
    )
}

/// Returns a schema's name in double quotes, for use in SQL statements, strings and function
/// bodies.
pub(super) fn quoted(schema: &str) -> Result<String, Error> {
    check_name(schema, LONGEST_NAME)?;
    Ok(format!("\"{schema}\""))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn postgres_script_contains_no_unfilled_placeholder() {
        for (name, layout) in Layout::presets().iter().filter(|(_, layout)| layout.width() < 64) {
            for node in [None, Some(0), Some(layout.max_node())] {
                let node = node.map(|node| DatabaseNode {
                    node,
                    first_tick: 9,
                    first_tick_of_new: u64::MAX,
                    origin: String::new(),
                });
                let script = script(layout, "ids", node.as_ref(), true).unwrap();
                assert!(!script.contains("{{") && !script.contains("}}"), "{name}: {script}");
                assert!(!script.contains("\"public\""), "{name}");
                assert_eq!(script.contains("nextval"), node.is_some(), "{name}");
            }
        }
    }

    /// Each tick's slot must contain enough sequence values for the tick's IDs, and enough spare
    /// values that never become IDs. Every place in the last slot must fit into a signed 64-bit
    /// integer.
    #[test]
    fn each_tick_reserves_enough_sequence_values_for_ids_and_skipped_values() {
        for text in [
            "twitter",
            "sonyflake",
            "js-safe",
            "baidu-29",
            "t41@0/1ms",
            "t41.s22@0/1ms",
            "t62.s1@0/1ms",
        ] {
            let layout: Layout = text.parse().unwrap();
            let Places { slot_bits, usable, last_tick } = Places::of(&layout);
            let values = 1_u64 << slot_bits;
            assert!((1..=layout.ids_per_tick()).contains(&usable), "{text}");
            assert!(usable + Places::SPARE <= values, "{text}");
            assert!(last_tick <= layout.max_tick() && last_tick.leading_zeros() >= 20, "{text}");
            assert!(
                i64::try_from(u128::from(last_tick + 1) * u128::from(values) - 1).is_ok(),
                "{text}"
            );
        }
        assert_eq!(Places::of(&Layout::TWITTER).usable, 4096);
    }

    #[test]
    fn schema_name_with_unsupported_characters_or_length_is_rejected() {
        assert_eq!(quoted("Ids_2").unwrap(), "\"Ids_2\"");
        for name in ["", "a b", "a\"b", "a$b", "é", &"a".repeat(64)] {
            assert!(quoted(name).is_err(), "{name}");
        }
    }
}
