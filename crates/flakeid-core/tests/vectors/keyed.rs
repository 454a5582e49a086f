//! Tests of public IDs with the vectors in `keyed.json` and with random keys and IDs.

use flakeid_core::{Error, ErrorKind, Id, Key, Keyring, Layout, PublicIds};
use proptest::prelude::*;
use serde_json::Value;

use crate::{load, number, optional, rows, text};

fn public_ids(row: &Value, layout: Layout) -> Result<PublicIds, Error> {
    let keyring: Keyring = text(row, "keyring").parse()?;
    let ids = keyring.domain(text(row, "domain"), layout)?;
    row["prefix"].as_str().map_or(Ok(ids.clone()), |prefix| ids.with_prefix(prefix))
}

#[test]
fn sealed_and_opened_public_ids_match_the_test_vectors() {
    for row in rows(&load("keyed"), "public_ids") {
        let ids = public_ids(row, text(row, "layout").parse().unwrap()).unwrap();
        let id = Id::from_u64(number(row, "id"));
        assert_eq!(ids.seal(id).unwrap(), text(row, "text"), "{row}");
        assert_eq!(ids.seal_bits(id).unwrap(), number::<u64>(row, "bits"), "{row}");
        assert_eq!(ids.open_at(text(row, "text"), i64::MAX).unwrap(), id, "{row}");
    }
}

#[test]
fn open_accepts_only_the_valid_public_ids_of_the_test_vectors() {
    let file = load("keyed");
    let domain = &file["one_domain"];
    let ids = public_ids(domain, text(domain, "layout").parse().unwrap()).unwrap();
    let open = |row: &Value| {
        let ids = optional(row, "since_ms").map_or(ids.clone(), |since| ids.clone().since(since));
        ids.open_at(text(row, "text"), number(row, "now_ms"))
    };
    for row in rows(&file, "opened") {
        assert_eq!(open(row).unwrap().to_u64(), number::<u64>(row, "id"), "{row}");
    }
    for row in rows(&file, "rejected") {
        let Err(error) = open(row) else { panic!("opens: {row}") };
        assert_eq!(error.code(), text(row, "code"), "{row}");
        // The error message must not reveal why the public ID was rejected.
        assert!(error.to_string().ends_with("is not a public ID of this domain"), "{error}");
    }
}

#[test]
fn public_id_error_messages_begin_with_the_name_of_the_invalid_option() {
    for row in rows(&load("keyed"), "invalid") {
        let Err(error) = public_ids(row, Layout::TWITTER) else { panic!("accepted: {row}") };
        assert_eq!(error.code(), text(row, "code"), "{row}");
        let message = error.to_string();
        assert!(message.starts_with(text(row, "option")), "{row}: {message}");
        assert!(!message.contains("0c0d0e"), "the message contains a key: {message}");
    }
}

#[test]
fn debug_output_contains_no_secret_keys() {
    let key = Key::from_bytes(*b"sixteen secrets!");
    let keyring = Keyring::new('k', key).unwrap();
    let ids = keyring.domain("user", Layout::TWITTER).unwrap();
    assert_eq!(format!("{key:?} {keyring:?}"), "Key(…) Keyring(\"k\")");
    assert!(!format!("{ids:?}").contains("cipher"), "{ids:?}");
}

/// Returns the average number of differing bits between the public IDs from `one` and from `other`, over 1,000 IDs.
fn distance(one: &PublicIds, other: impl Fn(u64) -> u64) -> f64 {
    let seal = |id| one.seal_bits(Id::from_u64(id)).unwrap();
    let differing = (0..1000).map(|id| f64::from((seal(id) ^ other(id)).count_ones()));
    differing.sum::<f64>() / 1000.0
}

/// Checks that changing one bit of the ID, one bit of the key, or the domain changes about half of a public ID's bits.
#[test]
fn small_input_changes_flip_about_half_of_the_public_id_bits() {
    let layout: Layout = "t52.s12@0/1ms".parse().unwrap();
    let of = |bytes, domain| {
        Keyring::new('a', Key::from_bytes(bytes)).unwrap().domain(domain, layout).unwrap()
    };
    let ids = of([7; 16], "user");
    // The range extends six standard deviations on either side of 32. The average over 1,000 IDs has a standard
    // deviation of 0.13.
    let is_half = |distance: f64| (31.2..32.8).contains(&distance);
    for bit in 0..64 {
        let moved = |id: u64| ids.seal_bits(Id::from_u64(id ^ 1 << bit)).unwrap();
        assert!(is_half(distance(&ids, moved)), "bit {bit} of the ID");
    }
    for bit in 0..128 {
        let mut key = [7; 16];
        key[bit / 8] ^= 1 << (bit % 8);
        let other = of(key, "user");
        let sealed = |id| other.seal_bits(Id::from_u64(id)).unwrap();
        assert!(is_half(distance(&ids, sealed)), "bit {bit} of the key");
    }
    for domain in ["users", "useR", "user\0", "\0user", "resu"] {
        let other = of([7; 16], domain);
        let sealed = |id| other.seal_bits(Id::from_u64(id)).unwrap();
        assert!(is_half(distance(&ids, sealed)), "domain {domain:?}");
    }
}

proptest! {
    /// Checks, for any key and domain, that opening a public ID returns the original ID and that different IDs have
    /// different public IDs.
    #[test]
    fn distinct_ids_get_distinct_public_ids_that_round_trip(key: [u8; 16], domain in ".{1,16}", one: u64, other: u64) {
        let layout: Layout = "t52.s12@0/1ms".parse().unwrap();
        let ids = Keyring::new('z', Key::from_bytes(key)).unwrap().domain(&domain, layout).unwrap();
        let [first, second] = [one, other].map(|id| ids.seal(Id::from_u64(id)).unwrap());
        prop_assert_eq!(ids.open_at(&first, i64::MAX).unwrap().to_u64(), one);
        prop_assert_eq!(first == second, one == other);
        prop_assert_eq!(first.len(), 12);
    }

    /// Checks that opening an arbitrary string never panics, and fails only with `InvalidId`.
    #[test]
    fn opening_an_arbitrary_string_returns_an_id_or_an_invalid_id_error(text in ".{0,20}") {
        let ids = Keyring::new('a', Key::from_bytes([1; 16])).unwrap();
        let ids = ids.domain("user", Layout::TWITTER).unwrap().with_prefix("usr").unwrap();
        if let Err(error) = ids.open_at(&text, i64::MAX) {
            prop_assert_eq!(error.kind(), ErrorKind::InvalidId);
        }
    }
}
