//! Tests that the SQL functions decode IDs to the values in the test vectors, and that the
//! `flakeid` command prints the same values.

use std::collections::BTreeMap;

use flakeid_core::{Layout, Rfc3339};
use flakeid_test_servers::PostgresServer;
use serde_json::Value;

use super::{OUTCOME, array, literal, psql, script, text, vectors};
use crate::run::run;

/// An instant in the year 0, in Unix milliseconds. Earlier years are negative, so they cannot be
/// written without a sign.
const FIRST_YEAR: i64 = -62_150_000_000_000;

/// The last millisecond of the year 9999, in Unix milliseconds.
const LAST_FOUR_DIGIT_YEAR: i64 = 253_402_300_799_999;

/// Returns the layouts in the test vectors whose IDs fit in a signed 64-bit column, each with the
/// name of a schema.
fn schemas(vectors: &Value) -> BTreeMap<String, (Layout, String)> {
    let named = array(&vectors["ids"]).iter().chain(array(&vectors["bounds"]));
    let layouts: Vec<&str> = named.map(|case| text(&case["layout"])).collect();
    let mut schemas = BTreeMap::new();
    for name in layouts {
        let layout: Layout = name.parse().unwrap();
        if layout.width() < 64 && !schemas.contains_key(name) {
            schemas.insert(name.to_owned(), (layout, format!("l{}", schemas.len())));
        }
    }
    schemas
}

/// A database that contains the functions for each layout in a separate schema.
pub(super) trait Engine {
    /// Whether the test uses the given layout.
    fn supports(&self, layout: &str) -> bool {
        !layout.is_empty()
    }

    /// Installs, in the given schema, the functions that decode the layout's IDs.
    fn install(&self, layout: &str, schema: &str);

    /// Runs queries that each select one value, and returns one result per query. The result of a
    /// failed query is the SQLSTATE and the message.
    fn results(&self, queries: &[String]) -> Vec<String>;

    /// Returns an SQL expression that converts an instant to Unix milliseconds.
    fn unix_ms(&self, instant: &str) -> String;

    /// Returns an SQL expression for a value of the type that `flakeid_from_uuid` takes. `digits`
    /// are the 32 hexadecimal digits of a UUID.
    fn uuid(&self, digits: &str) -> String;

    /// Returns the result of a true condition.
    fn yes(&self) -> &'static str;

    /// Converts an RFC 3339 time in UTC to the database's format, or returns `None` if the database
    /// cannot represent the time.
    fn instant(&self, rfc3339: &str) -> Option<String>;
}

impl Engine for PostgresServer {
    fn install(&self, layout: &str, schema: &str) {
        let script = script(layout, &["--decode-only", "--schema", schema]);
        psql(self, &format!("CREATE SCHEMA {schema};\n{script}")).unwrap();
    }

    fn results(&self, queries: &[String]) -> Vec<String> {
        let queries: Vec<String> = queries.iter().map(|query| literal(query)).collect();
        let sql = format!(
            "SELECT coalesce(translate(outcome(query), chr(10) || chr(13), '  '), 'null') \
             FROM unnest(ARRAY[{}]) WITH ORDINALITY q(query, n) ORDER BY n;",
            queries.join(",\n")
        );
        psql(self, &sql).unwrap().lines().map(str::to_owned).collect()
    }

    fn unix_ms(&self, instant: &str) -> String {
        format!("(extract(epoch FROM {instant}) * 1000)::bigint")
    }

    fn uuid(&self, digits: &str) -> String {
        format!("'{digits}'::uuid")
    }

    fn yes(&self) -> &'static str {
        "true"
    }

    fn instant(&self, rfc3339: &str) -> Option<String> {
        Some(rfc3339.to_owned())
    }
}

/// Runs queries that each select one value, and compares the results with the expected results.
fn compare(engine: &impl Engine, cases: &[(String, String)]) {
    let queries: Vec<String> = cases.iter().map(|(query, _)| query.clone()).collect();
    let results = engine.results(&queries);
    assert_eq!(results.len(), cases.len());
    for (result, (query, expected)) in results.iter().zip(cases) {
        // Two errors count as equal if they have the same SQLSTATE and the same error code.
        let is_same =
            result == expected || (expected.contains("FLAKEID_") && result.starts_with(expected));
        assert!(is_same, "{query}: {result}, not {expected}");
    }
}

#[test]
fn postgres_decodes_ids_as_in_the_test_vectors() {
    let server = PostgresServer::new();
    psql(&server, OUTCOME).unwrap();
    let compared = check_decoding(&server);
    assert!(are_enough(compared), "{compared:?}");
}

/// Whether the numbers of compared IDs, bounds and text forms exceed the expected minimums.
pub(super) fn are_enough([ids, bounds, texts]: [usize; 3]) -> bool {
    ids > 1400 && bounds > 400 && texts > 1500
}

/// Compares all decoded values with the test vectors and with the output of the `flakeid` command.
/// Returns the numbers of compared IDs, bounds and text forms.
pub(super) fn check_decoding(server: &impl Engine) -> [usize; 3] {
    let vectors = vectors("layouts.json");
    let mut schemas = schemas(&vectors);
    schemas.retain(|layout, _| server.supports(layout));
    for (name, (_, schema)) in &schemas {
        server.install(name, schema);
    }
    let mut cases = Vec::new();
    let mut decoded: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in array(&vectors["ids"]) {
        let Some((_, schema)) = schemas.get(text(&case["layout"])) else { continue };
        let id = text(&case["id"]);
        for field in ["tick", "node", "datacenter", "worker", "sequence"] {
            if let Some(value) = case[field].as_str() {
                let query = format!("SELECT {schema}.flakeid_{field}({id})");
                cases.push((query, value.to_owned()));
            }
        }
        if case["clock_sequence"] != "0" {
            let query = format!("SELECT {schema}.flakeid_clock_sequence({id})");
            cases.push((query, text(&case["clock_sequence"]).to_owned()));
        }
        if !case["timestamp"].is_null() {
            let time = server.unix_ms(&format!("{schema}.flakeid_time({id})"));
            cases.push((format!("SELECT {time}"), text(&case["unix_ms"]).to_owned()));
            decoded.entry(text(&case["layout"])).or_default().push(id);
        }
    }
    for case in array(&vectors["rejected_ids"]) {
        let Some((_, schema)) = schemas.get(text(&case["layout"])) else { continue };
        let id = text(&case["id"]).parse::<u64>().unwrap().cast_signed();
        for function in ["tick", "node", "sequence", "time", "inspect"] {
            let query = format!("SELECT {schema}.flakeid_{function}('{id}')");
            cases.push((query, format!("IDINV {}", text(&case["code"]))));
        }
    }
    compare(server, &cases);
    check_inspect(server, &schemas, &decoded);
    let schema = schemas.values().next().map(|(_, schema)| schema.as_str()).expect("a layout");
    let texts = check_text_forms(server, schema) + check_uuids(server, schema);
    [cases.len(), check_bounds(server, &vectors, &schemas), texts]
}

fn check_uuids(server: &impl Engine, schema: &str) -> usize {
    let file = vectors("uuid.json");
    let signed = |case: &Value| text(&case["id"]).parse::<u64>().unwrap().cast_signed();
    let parse = |text: &str| format!("SELECT {schema}.flakeid_parse({}, 'uuid')", literal(text));
    let mut cases = Vec::new();
    for case in array(&file["valid"]) {
        let (id, uuid) = (signed(case), server.uuid(text(&case["bytes"])));
        let same = format!("SELECT {schema}.flakeid_to_uuid('{id}') = {uuid}");
        cases.push((same, server.yes().to_owned()));
        cases.push((format!("SELECT {schema}.flakeid_from_uuid({uuid})"), id.to_string()));
        let encode = format!("SELECT {schema}.flakeid_text('{id}', 'uuid')");
        cases.push((encode, text(&case["text"]).to_owned()));
        cases.push((parse(text(&case["text"])), id.to_string()));
    }
    for case in array(&file["accepted"]) {
        cases.push((parse(text(&case["text"])), signed(case).to_string()));
    }
    for case in array(&file["rejected"]) {
        if !text(&case["text"]).contains('\0') {
            cases.push((parse(text(&case["text"])), format!("IDINV {}", text(&case["code"]))));
        }
    }
    for case in array(&file["rejected_bytes"]) {
        let digits = text(&case["bytes"]);
        // PostgreSQL's type `uuid` excludes other lengths.
        if digits.len() == 32 || server.yes() == "1" {
            let query = format!("SELECT {schema}.flakeid_from_uuid({})", server.uuid(digits));
            cases.push((query, format!("IDINV {}", text(&case["code"]))));
        }
    }
    for function in ["to_uuid", "from_uuid"] {
        cases.push((format!("SELECT {schema}.flakeid_{function}(NULL)"), "null".into()));
    }
    compare(server, &cases);
    cases.len()
}

fn check_bounds(
    server: &impl Engine,
    vectors: &Value,
    schemas: &BTreeMap<String, (Layout, String)>,
) -> usize {
    let mut cases = Vec::new();
    for case in array(&vectors["bounds"]) {
        let Some((layout, schema)) = schemas.get(text(&case["layout"])) else { continue };
        let unix_ms: i64 = text(&case["unix_ms"]).parse().unwrap();
        let instant = match unix_ms {
            ..FIRST_YEAR => "-infinity".to_owned(),
            FIRST_YEAR..=LAST_FOUR_DIGIT_YEAR => Rfc3339::with_fewest_digits(unix_ms).to_string(),
            // The year of the instant has more than four digits. The layout ends before that year,
            // so the bounds are the same as for `infinity`.
            _ if layout.horizon() <= LAST_FOUR_DIGIT_YEAR => "infinity".to_owned(),
            _ => continue,
        };
        let Some(instant) = server.instant(&instant) else { continue };
        for (function, bound) in [("min", "lower"), ("max", "upper")] {
            let query = format!("SELECT {schema}.flakeid_{function}('{instant}')");
            cases.push((query, text(&case[bound]).to_owned()));
        }
    }
    // An instant between two whole milliseconds belongs to the tick of the earlier millisecond.
    for (layout, schema) in schemas.values() {
        for (text, unix_ms) in [
            ("2026-11-23T02:05:06.789999Z", 1_795_399_506_789),
            ("2026-11-23T00:00:00.000001Z", 1_795_392_000_000),
        ] {
            let text = server.instant(text).unwrap();
            let query = format!("SELECT {schema}.flakeid_min('{text}')");
            cases.push((query, layout.lower_bound(unix_ms).to_string()));
        }
    }
    compare(server, &cases);
    cases.len()
}

/// Checks that `flakeid_inspect` and `flakeid inspect --json` return the same values.
fn check_inspect(
    server: &impl Engine,
    schemas: &BTreeMap<String, (Layout, String)>,
    decoded: &BTreeMap<&str, Vec<&str>>,
) {
    for (layout, ids) in decoded {
        let schema = &schemas[*layout].1;
        let args = [&["inspect", "--json", "--layout", layout], ids.as_slice()].concat();
        let query = |id: &&str| format!("SELECT {schema}.flakeid_inspect({id})");
        let written = server.results(&ids.iter().map(query).collect::<Vec<_>>());
        let written: Vec<Value> =
            written.iter().map(|line| serde_json::from_str(line).expect(line)).collect();
        assert_eq!(written, run(&args).quiet().json(), "{layout}");
    }
}

fn check_text_forms(server: &impl Engine, schema: &str) -> usize {
    let mut cases = Vec::new();
    for form in array(&vectors("text.json")["forms"]) {
        let name = literal(text(&form["form"]));
        let signed = |case: &Value| text(&case["id"]).parse::<u64>().unwrap().cast_signed();
        let parse = |case: &Value| {
            format!("SELECT {schema}.flakeid_parse({}, {name})", literal(text(&case["text"])))
        };
        for case in array(&form["valid"]) {
            let encode = format!("SELECT {schema}.flakeid_text('{}', {name})", signed(case));
            cases.push((encode, text(&case["text"]).to_owned()));
        }
        for case in array(&form["valid"]).iter().chain(array(&form["accepted"])) {
            cases.push((parse(case), signed(case).to_string()));
        }
        // An SQL string cannot contain U+0000.
        let is_allowed = |case: &&Value| !text(&case["text"]).contains('\0');
        for case in array(&form["rejected"]).iter().filter(is_allowed) {
            cases.push((parse(case), format!("IDINV {}", text(&case["code"]))));
        }
    }
    cases.push((
        format!("SELECT {schema}.flakeid_text(1, 'base99')"),
        "IDOPT FLAKEID_INVALID_OPTION".into(),
    ));
    cases.push((format!("SELECT {schema}.flakeid_text(NULL, 'hex')"), "null".into()));
    compare(server, &cases);
    cases.len()
}
