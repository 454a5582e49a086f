//! Tests of `flakeid sql --keyed`: the database must seal and open public IDs as in the test
//! vectors.

use std::collections::BTreeMap;

use flakeid_core::Layout;
use flakeid_test_servers::PostgresServer;

use super::{OUTCOME, array, literal, psql, script, text, vectors};

#[test]
fn postgres_public_ids_match_the_test_vectors() {
    let server = PostgresServer::new();
    let vectors = vectors("keyed.json");
    let mut schemas: BTreeMap<&str, String> = BTreeMap::new();
    let mut compared = 0;
    for case in array(&vectors["public_ids"]) {
        let name = text(&case["layout"]);
        if name.parse::<Layout>().unwrap().width() == 64 {
            continue;
        }
        let count = schemas.len();
        let schema = schemas.entry(name).or_insert_with(|| {
            let schema = format!("k{count}");
            let script = script(name, &["--decode-only", "--keyed", "--schema", &schema]);
            psql(&server, &format!("CREATE SCHEMA {schema};\n{script}")).unwrap();
            schema
        });
        let (domain, keyring) = (literal(text(&case["domain"])), literal(text(&case["keyring"])));
        let prefix = case["prefix"].as_str().map_or("NULL".to_owned(), literal);
        let (id, public) = (text(&case["id"]), text(&case["text"]));
        // Some IDs in the vectors belong to the last tick of their layout, so the test passes a time
        // in the distant future as the current time.
        let sql = format!(
            "SELECT {schema}.flakeid_add_domain({domain}, {keyring}, {prefix});
             SELECT {schema}.flakeid_seal({id}, {domain}),
               {schema}.flakeid_open_at({}, {domain}, 9000000000000000000);",
            literal(public)
        );
        assert_eq!(psql(&server, &sql).unwrap(), format!("{public}|{id}"));
        compared += 1;
    }
    assert!(compared >= 14, "{compared}");
}

#[test]
fn postgres_opens_only_the_valid_public_ids_of_the_test_vectors() {
    let server = PostgresServer::new();
    let vectors = vectors("keyed.json");
    let domain = &vectors["one_domain"];
    let (name, keyring) = (literal(text(&domain["domain"])), text(&domain["keyring"]));
    let prefix = literal(text(&domain["prefix"]));
    let install = script(text(&domain["layout"]), &["--decode-only", "--keyed"]);
    psql(&server, &format!("{OUTCOME}{install}")).unwrap();
    let outcome =
        |query: &str| psql(&server, &format!("SELECT outcome({});", literal(query))).unwrap();
    // In psql input, the CR LF line endings of a string must be written as escape sequences.
    let escaped = keyring.replace('\r', "\\r").replace('\n', "\\n");
    let opened = |case: &serde_json::Value| {
        let since = case["since_ms"].as_str().map_or(String::new(), |ms| {
            format!(", since => timestamptz 'epoch' + {ms} * interval '1 ms'")
        });
        let add = format!("SELECT flakeid_add_domain({name}, E'{escaped}', {prefix}{since})");
        assert_eq!(outcome(&add), "");
        let (public, now) = (literal(text(&case["text"])), text(&case["now_ms"]));
        outcome(&format!("SELECT flakeid_open_at({public}, {name}, {now})"))
    };
    for case in array(&vectors["opened"]) {
        assert_eq!(opened(case), text(&case["id"]), "{case}");
    }
    let mut refused = 0;
    for case in array(&vectors["rejected"]) {
        // A PostgreSQL string cannot contain a NUL character.
        if text(&case["text"]).contains('\0') {
            continue;
        }
        let refusal = opened(case);
        assert!(refusal.starts_with("IDINV FLAKEID_INVALID_ID: "), "{case}: {refusal}");
        assert!(refusal.ends_with("is not a public ID of this domain"), "{case}: {refusal}");
        refused += 1;
    }
    assert!(refused >= 20, "{refused}");
}

/// The test vector for Speck64/128 is from appendix C of <https://eprint.iacr.org/2013/404>.
#[test]
fn postgres_encryption_matches_the_published_speck_test_vector() {
    let server = PostgresServer::new();
    psql(&server, &script("twitter", &["--decode-only", "--keyed"])).unwrap();
    // The function expects the 32-bit words of the key in reverse order, as nonnegative values of
    // type bigint.
    let sql = "SELECT to_hex(flakeid_encrypt(x'3b7265747475432d'::bigint, flakeid_round_keys(ARRAY[
        x'03020100'::bigint, x'0b0a0908'::bigint, x'13121110'::bigint, x'1b1a1918'::bigint])));";
    assert_eq!(psql(&server, sql).unwrap(), "8c6fa548454e028b");
}

#[test]
fn postgres_rejects_invalid_public_ids_without_revealing_why() {
    let server = PostgresServer::new();
    let install = script("twitter", &["--node", "7", "--keyed"]);
    psql(&server, &format!("{OUTCOME}{install}{install}")).unwrap();
    let keyring = "a 000102030405060708090a0b0c0d0e0f";
    let outcome =
        |query: &str| psql(&server, &format!("SELECT outcome({});", literal(query))).unwrap();
    let add = |domain: &str, rest: &str| {
        outcome(&format!("SELECT flakeid_add_domain('{domain}', {rest})"))
    };
    assert_eq!(add("user", &format!("'{keyring}', 'usr'")), "");
    assert_eq!(add("order", &format!("'{keyring}'")), "");
    assert_eq!(add("late", &format!("'{keyring}', since => '2020-01-01Z'")), "");
    let id = "910499571847892992";
    let sealed = outcome(&format!("SELECT flakeid_seal({id}, 'user')"));
    assert_eq!(sealed, "usr_aF9JmGfwqkHK");
    assert_eq!(outcome(&format!("SELECT flakeid_open('{sealed}', 'user')")), id);
    let early = outcome(&format!("SELECT flakeid_seal({id}, 'late')"));
    let future = "flakeid_seal(flakeid_min(clock_timestamp() + interval '2 min'), 'user')";
    let future = outcome(&format!("SELECT {future}"));
    let soon = "flakeid_seal(flakeid_min(clock_timestamp() + interval '50 s'), 'user')";
    assert!(!outcome(&format!("SELECT flakeid_open({soon}, 'user')")).contains("IDINV"));
    for (text, domain) in [
        (sealed.as_str(), "order"),
        (early.as_str(), "late"),
        (future.as_str(), "user"),
        ("aF9JmGfwqkHK", "user"),
        ("usr_bF9JmGfwqkHK", "user"),
        ("usr_aF9JmGfwqkHL", "user"),
        ("usr_aF9JmGfwqkH", "user"),
        ("usr_aF9JmGfwqkHKK", "user"),
        ("usr_aF9JmGfwqkH0", "user"),
        ("usr_azzzzzzzzzzz", "user"),
        ("", "user"),
        ("usr_", "user"),
    ] {
        let refusal = outcome(&format!("SELECT flakeid_open('{text}', '{domain}')"));
        let expected =
            format!("IDINV FLAKEID_INVALID_ID: '{text}' is not a public ID of this domain");
        assert_eq!(refusal, expected);
    }
    // The new key seals public IDs, and the previous key can still open older public IDs.
    let both = format!("E'{keyring}\\n\\n# new\\nb 00112233445566778899AABBCCDDEEFF\\r\\n', 'usr'");
    assert_eq!(add("user", &both), "");
    assert_eq!(outcome(&format!("SELECT flakeid_open('{sealed}', 'user')")), id);
    assert!(outcome(&format!("SELECT flakeid_seal({id}, 'user')")).starts_with("usr_b"));
    for (domain, rest, reason) in [
        ("user", "'a 0001'", "keyring: line 1: must have a letter"),
        ("user", "'A 000102030405060708090a0b0c0d0e0f'", "keyring: line 1: must have a letter"),
        ("user", "'# none'", "keyring: has no key"),
        ("", "'# none'", "domain: must have from 1 to 64 bytes"),
    ] {
        let refusal = add(domain, rest);
        assert!(
            refusal.starts_with(&format!("IDOPT FLAKEID_INVALID_OPTION: {reason}")),
            "{refusal}"
        );
        assert!(!refusal.contains("0001"), "{refusal}");
    }
    let twice = add("user", &format!("E'{keyring}\\n{keyring}'"));
    assert!(twice.contains("keyring: line 2: the letter a belongs to two keys"), "{twice}");
    let prefix = add("user", &format!("'{keyring}', 'Usr'"));
    assert!(prefix.contains("FLAKEID_INVALID_OPTION: prefix: 'Usr' must have"), "{prefix}");
    let unknown = outcome("SELECT flakeid_seal(1, 'missing')");
    assert!(
        unknown.starts_with("IDOPT FLAKEID_INVALID_OPTION: domain: 'missing' does not exist"),
        "{unknown}"
    );
    assert_eq!(outcome("SELECT flakeid_seal(NULL, 'user')"), "");
    let stray = outcome("SELECT flakeid_seal(-1, 'user')");
    assert!(stray.starts_with("IDINV FLAKEID_INVALID_ID"), "{stray}");
    check_privileges(&server, &sealed, id);
}

/// Checks that only the owner can read keys, and that other roles need a grant to seal and open
/// public IDs.
fn check_privileges(server: &PostgresServer, sealed: &str, id: &str) {
    server.sql("CREATE ROLE guest").unwrap();
    let open = format!("SELECT flakeid_open('{sealed}', 'user')");
    for forbidden in [
        open.as_str(),
        "SELECT flakeid_seal(1, 'user')",
        "SELECT * FROM flakeid_domain",
        "SELECT flakeid_add_domain('user', '')",
    ] {
        let refusal = server.sql(&format!("SET ROLE guest; {forbidden};")).unwrap_err();
        assert!(refusal.contains("permission denied"), "{refusal}");
    }
    server.sql("GRANT EXECUTE ON FUNCTION flakeid_open TO guest").unwrap();
    assert_eq!(server.sql(&format!("SET ROLE guest; {open};")).unwrap(), id);
}
