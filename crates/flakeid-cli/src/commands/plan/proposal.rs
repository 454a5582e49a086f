//! Layouts for a need. Nothing here calculates with bits: widths are tried, and the layouts they
//! make are asked whether they do.

use flakeid_core::Layout;

use super::requirements::Need;

/// Units worth proposing, in milliseconds.
const UNITS: [u64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/// The widest an ID may be and still be exact as a JavaScript number.
const JS_BITS: u32 = f64::MANTISSA_DIGITS;

pub(crate) struct Proposal {
    pub(crate) name: String,
    pub(crate) layout: Layout,
}

/// Widths in bits (0: no such field) and a unit in milliseconds.
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

    /// Spare bits go to the fields in turn: a larger fleet, a higher peak, a longer life.
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

/// The fewest bits for a need in a unit, whatever their sum. `None` if no field is that wide.
fn least(need: &Need, unit: u64) -> Option<Widths> {
    let alone = Widths { time: 1, node: 0, sequence: 0, unit };
    let holds = |widths: Widths, enough: &dyn Fn(&Layout) -> bool| {
        widths.layout(need.epoch).is_some_and(|layout| enough(&layout))
    };
    let time = (1..=63).find(|time| {
        holds(Widths { time: *time, ..alone }, &|layout| layout.horizon() >= need.until)
    })?;
    let node = (0..=63).find(|node| {
        holds(Widths { node: *node, ..alone }, &|layout| layout.max_node() >= need.nodes - 1)
    })?;
    let sequence = (0..=62).find(|sequence| {
        holds(Widths { sequence: *sequence, ..alone }, &|layout| {
            layout.ids_per_second() >= need.rate as f64
        })
    })?;
    Some(Widths { time, node, sequence, unit })
}

/// What is proposed, best known first; empty if nothing meets the need.
pub(crate) fn proposals(need: &Need) -> Vec<Proposal> {
    let least: Vec<Widths> = UNITS.iter().filter_map(|unit| least(need, *unit)).collect();
    // The finest unit that fits: `UNITS` is in that order, and `min_by_key` keeps the first.
    let finest = |bits: u32| least.iter().find(|widths| widths.total() <= bits).copied();
    let in_unit = |unit: u64| least.iter().find(|widths| widths.unit == unit).copied();
    let js_bits = JS_BITS.min(need.bits);
    let candidates = [
        ("even headroom", finest(need.bits).map(|widths| widths.widened(need.bits))),
        ("fewest bits", least.iter().min_by_key(|widths| widths.total()).copied()),
        ("ms order", in_unit(1)),
        ("JavaScript-safe", finest(js_bits).map(|widths| widths.widened(js_bits))),
        ("large bursts", in_unit(1000).map(|widths| widths.widened(need.bits))),
    ];
    let mut proposals: Vec<Proposal> = Vec::new();
    for (name, widths) in candidates {
        let layout = widths.and_then(|widths| widths.layout(need.epoch));
        let Some(layout) = layout.filter(|layout| need.is_met_by(layout)) else { continue };
        match proposals.iter_mut().find(|proposal| proposal.layout == layout) {
            Some(proposal) => proposal.name = format!("{}, {name}", proposal.name),
            None => proposals.push(Proposal { name: name.to_owned(), layout }),
        }
    }
    for (name, layout) in Layout::presets() {
        if need.is_met_by(layout) {
            proposals.push(Proposal { name: format!("preset {name}"), layout: *layout });
        }
    }
    proposals
}

/// What would have to be lower, each alone, for a need that nothing meets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Relief {
    /// The fewest bits that hold it, if any number of bits does.
    pub(crate) least_bits: Option<u32>,
    /// The limit of bits with which it would fit, if any does.
    pub(crate) bits: Option<u32>,
    pub(crate) nodes: Option<u64>,
    pub(crate) rate: Option<u64>,
    /// Unless that is so soon that it is no way out.
    pub(crate) until: Option<i64>,
}

/// A layout that ends sooner is none worth having.
const SHORTEST_LIFE: i64 = 365 * 24 * 3600 * 1000;

pub(crate) fn relief(need: &Need) -> Relief {
    let wider =
        (need.bits + 1..=64).find(|bits| !proposals(&Need { bits: *bits, ..*need }).is_empty());
    // One field at a time is set free; the others keep what they need.
    let nodes = largest(&Need { nodes: 1, ..*need }, |widths, node| Widths { node, ..widths });
    let rate =
        largest(&Need { rate: 1, ..*need }, |widths, sequence| Widths { sequence, ..widths });
    let soon = Need { until: need.epoch + 1, ..*need };
    let until = largest(&soon, |widths, time| Widths { time, ..widths });
    // Rates are whole numbers; what is cut off is no loss.
    #[expect(clippy::cast_sign_loss, reason = "rates are not negative")]
    let whole = |layout: &Layout| layout.ids_per_second() as u64;
    Relief {
        least_bits: UNITS.iter().filter_map(|unit| least(need, *unit)).map(Widths::total).min(),
        bits: wider,
        nodes: nodes.iter().map(|layout| layout.max_node() + 1).max(),
        rate: rate.iter().map(whole).max().filter(|rate| *rate > 0),
        until: until
            .iter()
            .map(Layout::horizon)
            .max()
            .filter(|until| until - need.epoch >= SHORTEST_LIFE),
    }
}

/// For each unit the layout with the widest possible value of one field.
fn largest(need: &Need, set: impl Fn(Widths, u8) -> Widths) -> Vec<Layout> {
    let widest = |widths: Widths| {
        (0..=63).rev().find_map(|width| {
            let layout = set(widths, width).layout(need.epoch)?;
            need.is_met_by(&layout).then_some(layout)
        })
    };
    UNITS.iter().filter_map(|unit| widest(least(need, *unit)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-01 and a span of years from it.
    fn need(nodes: u64, rate: u64, years: i64, bits: u32) -> Need {
        let epoch = 1_767_225_600_000;
        Need { nodes, rate, epoch, until: epoch + years * 31_556_952_000, bits }
    }

    fn needs() -> impl Iterator<Item = Need> {
        let nodes = [1, 2, 65, 1000, 1 << 20, 1 << 62];
        let rates = [1, 999, 1000, 1001, 4_096_000, 1 << 40];
        let years = [1, 69, 70, 9000];
        let bits = [10, 32, 53, 63, 64];
        nodes.into_iter().flat_map(move |n| {
            rates.into_iter().flat_map(move |r| {
                years.into_iter().flat_map(move |y| bits.into_iter().map(move |b| need(n, r, y, b)))
            })
        })
    }

    /// Not through `is_met_by`: by counting what the bits hold.
    fn counts(need: &Need, layout: &Layout) {
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
        let span = (need.until - layout.epoch()).unsigned_abs();
        assert!(time * unit >= u128::from(span), "{need:?} {layout}");
        assert!(node >= u128::from(need.nodes), "{need:?} {layout}");
        assert!(sequence * 1000 >= u128::from(need.rate) * unit, "{need:?} {layout}");
        assert!(widths.iter().sum::<u32>() <= need.bits, "{need:?} {layout}");
        assert!(widths[0] + widths[2] <= 63, "{need:?} {layout}");
    }

    #[test]
    fn every_proposal_does_what_was_asked() {
        let mut met = 0;
        for need in needs() {
            for proposal in proposals(&need) {
                counts(&need, &proposal.layout);
                met += 1;
            }
        }
        assert!(met > 1000, "{met}");
    }

    #[test]
    fn where_nothing_fits_each_way_out_is_one_and_the_widest() {
        let mut unmet = 0;
        for need in needs().filter(|need| proposals(need).is_empty()) {
            unmet += 1;
            let relief = relief(&need);
            let fits = |changed: Need| !proposals(&changed).is_empty();
            if let Some(bits) = relief.bits {
                assert!(fits(Need { bits, ..need }) && !fits(Need { bits: bits - 1, ..need }));
            }
            if let Some(nodes) = relief.nodes {
                assert!(nodes < need.nodes && fits(Need { nodes, ..need }), "{need:?} {nodes}");
                assert!(!fits(Need { nodes: nodes + 1, ..need }), "{need:?} {nodes}");
            }
            if let Some(rate) = relief.rate {
                assert!(rate < need.rate && fits(Need { rate, ..need }), "{need:?} {rate}");
                assert!(!fits(Need { rate: rate + 1, ..need }), "{need:?} {rate}");
            }
            if let Some(until) = relief.until {
                assert!(until < need.until && fits(Need { until, ..need }), "{need:?} {until}");
                assert!(!fits(Need { until: until + 1, ..need }), "{need:?} {until}");
            }
        }
        assert!(unmet > 100, "{unmet}");
    }

    #[test]
    fn a_usual_need_has_three_to_five_answers_of_its_own() {
        for need in [need(64, 5000, 69, 63), need(1000, 100, 30, 63), need(1, 10, 20, 63)] {
            let own = proposals(&need);
            let own = own.iter().filter(|proposal| !proposal.name.starts_with("preset")).count();
            assert!((3..=5).contains(&own), "{need:?} {own}");
        }
    }
}
