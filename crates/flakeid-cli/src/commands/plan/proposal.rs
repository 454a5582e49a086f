//! The layouts that meet a set of requirements. This module does no bit arithmetic: it tries field
//! widths, and checks whether the resulting layouts meet the requirements.

use flakeid_core::Layout;

use super::requirements::Requirements;

/// The time units of the proposed layouts, in milliseconds.
const UNITS: [u64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/// The largest width, in bits, of the IDs that a JavaScript number can represent exactly.
const JS_BITS: u32 = f64::MANTISSA_DIGITS;

pub(crate) struct Proposal {
    pub(crate) name: String,
    pub(crate) layout: Layout,
}

/// The widths of the fields in bits (0 for an absent field), and the time unit in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Widths {
    time: u8,
    node: u8,
    sequence: u8,
    unit: u64,
}

impl Widths {
    fn total(self) -> u32 {
        u32::from(self.time) + u32::from(self.node) + u32::from(self.sequence)
    }

    fn layout(self, epoch: i64) -> Option<Layout> {
        let mut builder = Layout::builder().time(self.time).epoch(epoch).unit_ms(self.unit);
        if self.node > 0 {
            builder = builder.node(self.node);
        }
        if self.sequence > 0 {
            builder = builder.sequence(self.sequence);
        }
        builder.build().ok()
    }

    /// Distributes the spare bits among the fields in turn, to allow more nodes, a higher peak rate
    /// and a longer time range.
    fn widened(mut self, bits: u32) -> Self {
        for turn in 0..bits.saturating_sub(self.total()) {
            match turn % 3 {
                0 => self.node += 1,
                1 => self.sequence += 1,
                _ => self.time += 1,
            }
        }
        self
    }
}

/// Returns the smallest field widths that meet the requirements with the given time unit,
/// regardless of the total width. Returns `None` if a field cannot be wide enough.
fn least(required: &Requirements, unit: u64) -> Option<Widths> {
    let alone = Widths { time: 1, node: 0, sequence: 0, unit };
    let holds = |widths: Widths, enough: &dyn Fn(&Layout) -> bool| {
        widths.layout(required.epoch).is_some_and(|layout| enough(&layout))
    };
    let time = (1..=63).find(|time| {
        holds(Widths { time: *time, ..alone }, &|layout| layout.horizon() >= required.until)
    })?;
    let node = (0..=63).find(|node| {
        holds(Widths { node: *node, ..alone }, &|layout| layout.max_node() >= required.nodes - 1)
    })?;
    let sequence = (0..=62).find(|sequence| {
        holds(Widths { sequence: *sequence, ..alone }, &|layout| {
            layout.ids_per_second() >= required.rate as f64
        })
    })?;
    Some(Widths { time, node, sequence, unit })
}

/// Returns the proposed layouts: new layouts first, then presets. The list is empty if no layout
/// meets the requirements.
pub(crate) fn proposals(required: &Requirements) -> Vec<Proposal> {
    let least: Vec<Widths> = UNITS.iter().filter_map(|unit| least(required, *unit)).collect();
    // `UNITS` is in ascending order, so `find` returns the widths with the finest time unit that
    // fit in `bits`.
    let finest = |bits: u32| least.iter().find(|widths| widths.total() <= bits).copied();
    let in_unit = |unit: u64| least.iter().find(|widths| widths.unit == unit).copied();
    let js_bits = JS_BITS.min(required.bits);
    let candidates = [
        ("even headroom", finest(required.bits).map(|widths| widths.widened(required.bits))),
        ("fewest bits", least.iter().min_by_key(|widths| widths.total()).copied()),
        ("ms order", in_unit(1)),
        ("JavaScript-safe", finest(js_bits).map(|widths| widths.widened(js_bits))),
        ("large bursts", in_unit(1000).map(|widths| widths.widened(required.bits))),
    ];
    let mut proposals: Vec<Proposal> = Vec::new();
    for (name, widths) in candidates {
        let layout = widths.and_then(|widths| widths.layout(required.epoch));
        let Some(layout) = layout.filter(|layout| required.are_met_by(layout)) else { continue };
        match proposals.iter_mut().find(|proposal| proposal.layout == layout) {
            Some(proposal) => proposal.name = format!("{}, {name}", proposal.name),
            None => proposals.push(Proposal { name: name.to_owned(), layout }),
        }
    }
    for (name, layout) in Layout::presets() {
        if required.are_met_by(layout) {
            proposals.push(Proposal { name: format!("preset {name}"), layout: *layout });
        }
    }
    proposals
}

/// Returns the presets that meet all requirements except that their ticks end too early.
pub(crate) fn presets_that_end_early(
    required: &Requirements,
) -> impl Iterator<Item = &'static (&'static str, Layout)> {
    let soon = Requirements { until: required.epoch + 1, ..*required };
    let is_early = move |layout: &Layout| soon.are_met_by(layout) && !required.are_met_by(layout);
    Layout::presets().iter().filter(move |(_, layout)| is_early(layout))
}

/// Changes to the requirements, each of which is sufficient by itself to make a layout possible.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Alternatives {
    /// The smallest total width, in bits, of fields that meet the requirements, or `None` if a
    /// field cannot be wide enough with any time unit. The width can exceed 64.
    pub(crate) least_bits: Option<u32>,
    /// The smallest value of `--bits` with which a layout would meet the other requirements, or
    /// `None` if even 64 bits are not sufficient.
    pub(crate) bits: Option<u32>,
    pub(crate) nodes: Option<u64>,
    pub(crate) rate: Option<u64>,
    /// The latest end of the layout's time range that the other requirements allow, or `None` if
    /// that end is less than a year after the epoch.
    pub(crate) until: Option<i64>,
}

/// The shortest time range that `Alternatives::until` suggests for a layout, in milliseconds.
const SHORTEST_LIFE: i64 = 365 * 24 * 3600 * 1000;

pub(crate) fn alternatives(required: &Requirements) -> Alternatives {
    let wider = (required.bits + 1..=64)
        .find(|bits| !proposals(&Requirements { bits: *bits, ..*required }).is_empty());
    // Each alternative drops one requirement and keeps all other requirements.
    let nodes =
        largest(&Requirements { nodes: 1, ..*required }, |widths, node| Widths { node, ..widths });
    let rate = largest(&Requirements { rate: 1, ..*required }, |widths, sequence| Widths {
        sequence,
        ..widths
    });
    let soon = Requirements { until: required.epoch + 1, ..*required };
    let until = largest(&soon, |widths, time| Widths { time, ..widths });
    // The suggested rate must be a whole number that the layout can reach, so the layout's rate is
    // rounded down.
    #[expect(clippy::cast_sign_loss, reason = "rates are not negative")]
    let whole = |layout: &Layout| layout.ids_per_second() as u64;
    Alternatives {
        least_bits: UNITS.iter().filter_map(|unit| least(required, *unit)).map(Widths::total).min(),
        bits: wider,
        nodes: nodes.iter().map(|layout| layout.max_node() + 1).max(),
        rate: rate.iter().map(whole).max().filter(|rate| *rate > 0),
        until: until
            .iter()
            .map(Layout::horizon)
            .max()
            .filter(|until| until - required.epoch >= SHORTEST_LIFE),
    }
}

/// Returns one layout for each time unit with which a layout can meet the requirements. In each
/// layout, the field that `set` changes has the largest possible width.
fn largest(required: &Requirements, set: impl Fn(Widths, u8) -> Widths) -> Vec<Layout> {
    let widest = |widths: Widths| {
        (0..=63).rev().find_map(|width| {
            let layout = set(widths, width).layout(required.epoch)?;
            required.are_met_by(&layout).then_some(layout)
        })
    };
    UNITS.iter().filter_map(|unit| widest(least(required, *unit)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns requirements for a layout that starts on 2026-01-01 and lasts for the given number
    /// of years.
    fn required(nodes: u64, rate: u64, years: i64, bits: u32) -> Requirements {
        let epoch = 1_767_225_600_000;
        Requirements { nodes, rate, epoch, until: epoch + years * 31_556_952_000, bits }
    }

    fn combinations() -> impl Iterator<Item = Requirements> {
        let nodes = [1, 2, 65, 1000, 1 << 20, 1 << 62];
        let rates = [1, 999, 1000, 1001, 4_096_000, 1 << 40];
        let years = [1, 69, 70, 9000];
        let bits = [10, 32, 53, 63, 64];
        nodes.into_iter().flat_map(move |n| {
            rates.into_iter().flat_map(move |r| {
                years
                    .into_iter()
                    .flat_map(move |y| bits.into_iter().map(move |b| required(n, r, y, b)))
            })
        })
    }

    /// Checks that a layout meets the requirements. Unlike `are_met_by`, this function counts the
    /// values that the bits of each field can represent.
    fn counts(required: &Requirements, layout: &Layout) {
        let mut widths = [0_u32; 3];
        for span in layout.fields() {
            widths[match span.field.letter() {
                't' => 0,
                's' => 2,
                _ => 1,
            }] += u32::from(span.width);
        }
        let (time, node, sequence) =
            (1_u128 << widths[0], 1_u128 << widths[1], 1_u128 << widths[2]);
        let unit = u128::from(layout.unit_ms());
        let span = (required.until - layout.epoch()).unsigned_abs();
        assert!(time * unit >= u128::from(span), "{required:?} {layout}");
        assert!(node >= u128::from(required.nodes), "{required:?} {layout}");
        assert!(sequence * 1000 >= u128::from(required.rate) * unit, "{required:?} {layout}");
        assert!(widths.iter().sum::<u32>() <= required.bits, "{required:?} {layout}");
        assert!(widths[0] + widths[2] <= 63, "{required:?} {layout}");
    }

    #[test]
    fn every_proposed_layout_meets_the_requirements() {
        let mut met = 0;
        for required in combinations() {
            for proposal in proposals(&required) {
                counts(&required, &proposal.layout);
                met += 1;
            }
        }
        assert!(met > 1000, "{met}");
    }

    #[test]
    fn each_suggested_change_is_the_smallest_that_makes_a_layout_possible() {
        let mut unmet = 0;
        for required in combinations().filter(|required| proposals(required).is_empty()) {
            unmet += 1;
            let alternatives = alternatives(&required);
            let fits = |changed: Requirements| !proposals(&changed).is_empty();
            if let Some(bits) = alternatives.bits {
                assert!(
                    fits(Requirements { bits, ..required })
                        && !fits(Requirements { bits: bits - 1, ..required })
                );
            }
            if let Some(nodes) = alternatives.nodes {
                assert!(
                    nodes < required.nodes && fits(Requirements { nodes, ..required }),
                    "{required:?} {nodes}"
                );
                assert!(
                    !fits(Requirements { nodes: nodes + 1, ..required }),
                    "{required:?} {nodes}"
                );
            }
            if let Some(rate) = alternatives.rate {
                assert!(
                    rate < required.rate && fits(Requirements { rate, ..required }),
                    "{required:?} {rate}"
                );
                assert!(!fits(Requirements { rate: rate + 1, ..required }), "{required:?} {rate}");
            }
            if let Some(until) = alternatives.until {
                assert!(
                    until < required.until && fits(Requirements { until, ..required }),
                    "{required:?} {until}"
                );
                assert!(
                    !fits(Requirements { until: until + 1, ..required }),
                    "{required:?} {until}"
                );
            }
        }
        assert!(unmet > 100, "{unmet}");
    }

    #[test]
    fn common_requirements_yield_three_to_five_custom_layouts() {
        for required in
            [required(64, 5000, 69, 63), required(1000, 100, 30, 63), required(1, 10, 20, 63)]
        {
            let own = proposals(&required);
            let own = own.iter().filter(|proposal| !proposal.name.starts_with("preset")).count();
            assert!((3..=5).contains(&own), "{required:?} {own}");
        }
    }
}
