//! Tests that the SQL functions return the values in the shared test vectors.

use std::collections::BTreeMap;

use flakeid_core::{Layout, Rfc3339};
use rusqlite::Connection;
use serde_json::Value;

use super::{answer, configured};

/// An instant in the year 0, the first year that an RFC 3339 timestamp can express.
const FIRST_YEAR: i64 = -62_150_000_000_000;
/// The last millisecond of the year 9999.
const LAST_FOUR_DIGIT_YEAR: i64 = 253_402_300_799_999;

fn vectors(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn signed(case: &Value) -> i64 {
    text(&case["id"]).parse::<u64>().unwrap().cast_signed()
}

/// A connection for each layout whose IDs fit into a signed column.
#[derive(Default)]
struct Connections(BTreeMap<String, Option<Connection>>);

impl Connections {
    fn of(&mut self, layout: &str) -> Option<&Connection> {
        let entry = self.0.entry(layout.to_owned()).or_insert_with(|| {
            let fits = layout.parse::<Layout>().unwrap().width() < 64;
            fits.then(|| configured(&[&format!("layout={layout}")]))
        });
        entry.as_ref()
    }
}

fn same(connection: &Connection, sql: &str, expected: &str) {
    assert_eq!(answer(connection, sql).as_deref(), Ok(expected), "{sql}");
}

fn refused(connection: &Connection, sql: &str, code: &str) {
    let said = answer(connection, sql).expect_err(sql);
    assert!(said.starts_with(&format!("{code}: ")), "{sql}: {said}");
}

#[test]
fn decoded_id_fields_match_the_test_vectors() {
    let (vectors, mut connections, mut compared) =
        (vectors("layouts.json"), Connections::default(), 0);
    for case in array(&vectors["ids"]) {
        let Some(connection) = connections.of(text(&case["layout"])) else { continue };
        let id = signed(case);
        for field in ["tick", "node", "datacenter", "worker", "sequence"] {
            let expected = case[field].as_str().unwrap_or("null");
            same(connection, &format!("SELECT flakeid_{field}({id})"), expected);
        }
        if case["clock_sequence"] != "0" {
            let expected = text(&case["clock_sequence"]);
            same(connection, &format!("SELECT flakeid_clock_sequence({id})"), expected);
        }
        if let Some(time) = case["timestamp"].as_str() {
            same(connection, &format!("SELECT flakeid_time({id})"), time);
            same(connection, &format!("SELECT flakeid_inspect({id}) ->> 'timestamp'"), time);
            let expected = text(&case["unix_ms"]);
            same(connection, &format!("SELECT flakeid_inspect({id}) ->> 'unix_ms'"), expected);
        }
        compared += 1;
    }
    assert!(compared > 200, "{compared}");
    for case in array(&vectors["rejected_ids"]) {
        let Some(connection) = connections.of(text(&case["layout"])) else { continue };
        for function in ["tick", "node", "sequence", "time", "inspect"] {
            let sql = format!("SELECT flakeid_{function}({})", signed(case));
            refused(connection, &sql, text(&case["code"]));
        }
    }
}

#[test]
fn id_bounds_for_a_time_match_the_test_vectors() {
    let (vectors, mut connections, mut compared) =
        (vectors("layouts.json"), Connections::default(), 0);
    for case in array(&vectors["bounds"]) {
        let Some(connection) = connections.of(text(&case["layout"])) else { continue };
        let unix_ms: i64 = text(&case["unix_ms"]).parse().unwrap();
        let mut ways = vec![unix_ms.to_string()];
        if (FIRST_YEAR..=LAST_FOUR_DIGIT_YEAR).contains(&unix_ms) {
            let instant = Rfc3339::new(unix_ms, 3).to_string();
            // SQLite's time functions return a time with a space instead of `T` and without `Z`.
            ways.push(instant.replace('T', " ").replace('Z', ""));
            ways.push(instant);
        }
        for (function, bound) in [("min", "lower"), ("max", "upper")] {
            for way in &ways {
                let sql = format!("SELECT flakeid_{function}('{way}')");
                same(connection, &sql, text(&case[bound]));
                compared += 1;
            }
        }
    }
    assert!(compared > 400, "{compared}");
}

#[test]
fn text_forms_of_ids_match_the_test_vectors() {
    let connection = configured(&["layout=twitter"]);
    let (ask, mut compared) = (
        |sql: &str, text: &str, form: &str| {
            let value = connection.query_row(sql, (text, form), |row| row.get::<_, i64>(0));
            value.map_err(|error| error.to_string())
        },
        0,
    );
    for form in array(&vectors("text.json")["forms"]) {
        let name = text(&form["form"]);
        for case in array(&form["valid"]) {
            let sql = format!("SELECT flakeid_text({}, '{name}')", signed(case));
            same(&connection, &sql, text(&case["text"]));
        }
        for case in array(&form["valid"]).iter().chain(array(&form["accepted"])) {
            let found = ask("SELECT flakeid_parse(?, ?)", text(&case["text"]), name);
            assert_eq!(found, Ok(signed(case)), "{case}");
            compared += 1;
        }
        for case in array(&form["rejected"]) {
            let said =
                ask("SELECT flakeid_parse(?, ?)", text(&case["text"]), name).expect_err(name);
            assert!(said.starts_with(text(&case["code"])), "{case}: {said}");
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn uuids_of_ids_match_the_test_vectors_and_sort_like_ids() {
    let connection = configured(&["layout=twitter"]);
    let file = vectors("uuid.json");
    connection.execute_batch("CREATE TABLE t (uuid BLOB PRIMARY KEY, n INTEGER)").unwrap();
    for (n, case) in array(&file["valid"]).iter().enumerate() {
        let (id, uuid, bytes) = (signed(case), text(&case["text"]), text(&case["bytes"]));
        same(&connection, &format!("SELECT lower(hex(flakeid_to_uuid({id})))"), bytes);
        same(&connection, &format!("SELECT typeof(flakeid_to_uuid({id}))"), "blob");
        same(&connection, &format!("SELECT flakeid_text({id}, 'uuid')"), uuid);
        for way in [
            format!("from_uuid(X'{bytes}')"),
            format!("from_uuid('{uuid}')"),
            format!("parse('{uuid}', 'uuid')"),
        ] {
            same(&connection, &format!("SELECT flakeid_{way}"), &id.to_string());
        }
        connection.execute_batch(&format!("INSERT INTO t VALUES (X'{bytes}', {n})")).unwrap();
    }
    let sorted = "SELECT count(*) FROM (SELECT n, row_number() OVER (ORDER BY uuid) - 1 AS place FROM t) WHERE n <> place";
    same(&connection, sorted, "0");
    for case in array(&file["accepted"]) {
        same(
            &connection,
            &format!("SELECT flakeid_from_uuid('{}')", text(&case["text"])),
            &signed(case).to_string(),
        );
    }
    for case in array(&file["rejected"]) {
        let found =
            connection.query_row("SELECT flakeid_from_uuid(?)", [text(&case["text"])], |row| {
                row.get::<_, i64>(0)
            });
        let said = found.expect_err("an error").to_string();
        assert!(said.starts_with(text(&case["code"])), "{case}: {said}");
    }
    for case in array(&file["rejected_bytes"]) {
        refused(
            &connection,
            &format!("SELECT flakeid_from_uuid(X'{}')", text(&case["bytes"])),
            text(&case["code"]),
        );
    }
    same(&connection, "SELECT flakeid_to_uuid(NULL)", "null");
    same(&connection, "SELECT flakeid_from_uuid(NULL)", "null");
    refused(&connection, "SELECT flakeid_from_uuid(1)", "FLAKEID_INVALID_OPTION");
}

#[test]
fn results_of_sqlite_time_functions_are_accepted_as_bounds() {
    let connection = configured(&["layout=twitter"]);
    for (time, unix_ms) in [
        ("datetime('2026-11-22 12:00:00')", 1_795_348_800_000),
        ("strftime('%Y-%m-%d %H:%M:%f', '2026-11-22 12:00:00.25')", 1_795_348_800_250),
        ("date('2026-11-22 12:00:00')", 1_795_305_600_000),
    ] {
        let expected = Layout::TWITTER.lower_bound(unix_ms).to_string();
        same(&connection, &format!("SELECT flakeid_min({time})"), &expected);
    }
    same(&connection, "SELECT datetime(flakeid_time(910499571847892992))", "2017-09-20 13:43:08");
    for function in ["time(NULL)", "min(NULL)", "text(NULL, 'hex')", "parse('0', NULL)"] {
        same(&connection, &format!("SELECT flakeid_{function}"), "null");
    }
    same(&connection, "SELECT flakeid_layout()", &Layout::TWITTER.to_string());
    same(&connection, "SELECT flakeid_version()", env!("CARGO_PKG_VERSION"));
}

#[test]
fn sqlite_seals_and_opens_ids_like_the_rust_core() {
    let keyring = "a 000102030405060708090a0b0c0d0e0f";
    let connection = configured(&["layout=twitter"]);
    let add = "SELECT flakeid_add_domain('user', ?, 'usr', '2017-01-01')";
    for keyring in
        [rusqlite::types::Value::Text(keyring.into()), rusqlite::types::Value::Blob(keyring.into())]
    {
        connection.query_row(add, [keyring], |_| Ok(())).unwrap();
    }
    let ids =
        flakeid_core::PublicIds::from_text(keyring, "user", Layout::TWITTER, Some("usr"), None)
            .unwrap();
    let id = 910_499_571_847_892_992;
    let sealed = ids.seal(flakeid_core::Id::from_u64(id)).unwrap();
    same(&connection, &format!("SELECT flakeid_seal({id}, 'user')"), &sealed);
    same(&connection, &format!("SELECT flakeid_open('{sealed}', 'user')"), &id.to_string());
    refused(&connection, "SELECT flakeid_open('usr_a11111111111', 'user')", "FLAKEID_INVALID_ID");
    refused(&connection, &format!("SELECT flakeid_seal({id}, 'order')"), "FLAKEID_INVALID_OPTION");
    refused(&connection, "SELECT flakeid_add_domain('user')", "FLAKEID_INVALID_OPTION");
    refused(&connection, "SELECT flakeid_add_domain('user', 'a 1')", "FLAKEID_INVALID_OPTION");
}
