//! Compares the core with a model that uses 128-bit integers, so that the model's calculations cannot overflow. The
//! tests use random layouts, random times and random parts of IDs, and run generators on random sequences of clock
//! readings.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod generator;
mod layout;
mod trace;

use flakeid_core::{Error, ErrorKind, Id, Layout, Parts, TextForm};
use proptest::prelude::*;

use layout::BigLayout;

fn config() -> ProptestConfig {
    ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() }
}

fn kind<T>(result: Result<T, Error>) -> Result<T, ErrorKind> {
    result.map_err(|error| error.kind())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn layout_descriptors_round_trip_and_match_the_reference_model(big in layout::any_layout()) {
        let text = big.descriptor();
        match text.parse::<Layout>() {
            Ok(layout) => {
                prop_assert!(big.is_valid(), "{text} must be rejected");
                prop_assert_eq!(layout.to_string(), text);
                prop_assert_eq!(i128::from(layout.horizon()), big.horizon());
                prop_assert_eq!(i128::from(layout.fits_i64_until()), big.fits_i64_until());
                prop_assert_eq!(i128::from(layout.max_node()), big.most("node"));
                prop_assert_eq!(i128::from(layout.max_tick()), big.most("time"));
                prop_assert_eq!(i128::from(layout.ids_per_tick()), big.most("sequence") + 1);
            }
            Err(error) => {
                prop_assert!(!big.is_valid(), "{text}: {error}");
                prop_assert_eq!(error.kind(), ErrorKind::InvalidLayout);
            }
        }
    }

    #[test]
    fn packed_and_unpacked_ids_match_the_reference_model(
        big in layout::valid_layout(),
        tick in layout::value(), node in layout::value(),
        clock_sequence in layout::value(), sequence in layout::value(),
        bits in any::<u64>(),
    ) {
        let layout = big.to_layout();
        let fields = [
            ("time", tick), ("node", node),
            ("clock_sequence", clock_sequence), ("sequence", sequence),
        ];
        let in_range = fields.iter().all(|(name, value)| i128::from(*value) <= big.most(name));
        let mut parts = Parts::default();
        (parts.tick, parts.unix_ms, parts.node) = (tick, layout.unix_ms_at(tick), node);
        (parts.clock_sequence, parts.sequence) = (clock_sequence, sequence);
        match layout.pack(&parts) {
            Ok(id) => {
                prop_assert!(in_range);
                prop_assert_eq!(i128::from(id.to_u64()), big.pack(&fields));
                let unpacked = layout.unpack(id).unwrap();
                prop_assert_eq!(layout.pack(&unpacked).unwrap(), id);
                (parts.datacenter, parts.worker) = (unpacked.datacenter, unpacked.worker);
                prop_assert_eq!(unpacked, parts);
            }
            Err(error) => {
                prop_assert!(!in_range, "{error}");
                prop_assert_eq!(error.kind(), ErrorKind::FieldOutOfRange);
            }
        }
        // Any 64-bit value either decodes to parts that pack to the same value, or is rejected.
        match layout.unpack(Id::from_u64(bits)) {
            Ok(parts) => prop_assert_eq!(layout.pack(&parts).unwrap().to_u64(), bits),
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidId);
                prop_assert!(i128::from(bits) & !big.used_bits() != 0);
            }
        }
    }

    #[test]
    fn ticks_and_id_bounds_match_the_reference_model(big in layout::valid_layout(), near in any::<i64>(), pick in 0..4) {
        let layout = big.to_layout();
        // The time is arbitrary, or near either end of the layout's range.
        let unix_ms = match pick {
            0 => near,
            1 => layout.epoch().saturating_add(near % 5000),
            2 => layout.horizon().saturating_add(near % 5000),
            _ => (big.epoch + i128::from(near).rem_euclid(big.horizon() - big.epoch))
                .try_into().unwrap(),
        };
        let tick = kind(layout.tick_at(unix_ms)).map(i128::from);
        prop_assert_eq!(tick, big.tick_at(unix_ms.into()));
        let (lower, upper) = (layout.lower_bound(unix_ms), layout.upper_bound(unix_ms));
        let clamped = big.clamped_tick(unix_ms.into());
        prop_assert_eq!(i128::from(lower.to_u64()), big.pack(&[("time", clamped as u64)]));
        prop_assert_eq!(
            i128::from(upper.to_u64()),
            big.pack(&[("time", clamped as u64)]) | (big.used_bits() & !big.pack(&[("time", big.most("time") as u64)]))
        );
        prop_assert!(layout.unpack(lower).is_ok() && layout.unpack(upper).is_ok());
    }

    #[test]
    fn text_forms_round_trip_and_preserve_id_order(a in layout::value(), b in layout::value()) {
        for form in TextForm::ALL {
            let (x, y) = (Id::from_u64(a).to_text(form), Id::from_u64(b).to_text(form));
            prop_assert_eq!(form.decode(&x).unwrap().to_u64(), a);
            if form.is_fixed_width() {
                prop_assert_eq!(x.as_str().cmp(y.as_str()), a.cmp(&b));
            }
        }
    }

    #[test]
    fn uuids_round_trip_and_preserve_id_order_as_bytes(a in layout::value(), b in layout::value()) {
        let (x, y) = (Id::from_u64(a).to_uuid_bytes(), Id::from_u64(b).to_uuid_bytes());
        prop_assert_eq!(Id::from_uuid_bytes(x).unwrap().to_u64(), a);
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
    }

    #[test]
    fn conversion_accepts_only_uuids_that_flakeid_creates(bits in any::<u128>(), id in layout::value(), flips in 0_u8..4) {
        // A UUID of random bits is almost never accepted, so most cases change a few bits of an accepted UUID.
        let mut uuid = u128::from_be_bytes(Id::from_u64(id).to_uuid_bytes());
        for flip in 0..flips {
            uuid ^= 1 << (bits >> (7 * flip) & 127);
        }
        for given in [bits, uuid] {
            if let Ok(id) = Id::from_uuid_bytes(given.to_be_bytes()) {
                prop_assert_eq!(u128::from_be_bytes(id.to_uuid_bytes()), given);
            }
        }
    }

    #[test]
    fn decoding_accepts_only_the_documented_variants_of_each_text_form(text in "[ -~]{0,22}|[0-9a-zA-Z]{10,21}|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-8[0-9a-fA-F]{3}-[89abAB][37bBfF]66-6[cC]616[bB]65696[0-9]") {
        for form in TextForm::ALL {
            if let Ok(id) = form.decode(&text) {
                // Each text form accepts only its documented variants. Decoding must not truncate the string or skip
                // characters.
                let again = id.to_text(form);
                let folded = match form {
                    TextForm::Decimal => text.trim_start_matches('0').to_owned(),
                    TextForm::Base32 => {
                        text.to_uppercase().replace(['I', 'L'], "1").replace('O', "0")
                    }
                    TextForm::Base36 | TextForm::Hex | TextForm::Zbase32 | TextForm::Uuid => text.to_lowercase(),
                    _ => text.clone(),
                };
                let zero = form == TextForm::Decimal && folded.is_empty();
                prop_assert_eq!(if zero { "0" } else { folded.as_str() }, again.as_str());
            }
        }
    }

    #[test]
    fn generators_match_the_reference_model_on_random_traces(trace in trace::any_trace()) {
        trace::check(&trace)?;
    }
}

#[test]
fn reference_model_packs_known_fields_into_the_expected_id() {
    // This ID was not generated by flakeid, so the expected value does not depend on flakeid's code.
    let big = BigLayout::new("t41.d5.w5.s12", 1_288_834_974_657, 1);
    let node = 17 * 32 + 25;
    let id = big.pack(&[("time", 217_080_014_192), ("node", node), ("sequence", 0)]);
    assert_eq!(id, 910_499_571_847_892_992);
}
