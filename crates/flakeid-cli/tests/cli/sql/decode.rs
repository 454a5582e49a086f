//! What the functions say about IDs is what the vectors say, and the command.

use std::collections::BTreeMap;

use flakeid_core::{Layout, Rfc3339};
use flakeid_test_servers::PostgresServer;
use serde_json::Value;

use super::{OUTCOME, array, literal, psql, script, text, vectors};
use crate::run::run;

/// Within the first year that is written without a sign.
const FIRST_YEAR: i64 = -62_150_000_000_000;

/// The last millisecond of the year 9999.
const LAST_FOUR_DIGIT_YEAR: i64 = 253_402_300_799_999;

/// A schema for each layout of the vectors that fits a column.
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

fn install(server: &PostgresServer, schemas: &BTreeMap<String, (Layout, String)>) {
    for (name, (_, schema)) in schemas {
        let script = script(name, &["--decode-only", "--schema", schema]);
        psql(server, &format!("CREATE SCHEMA {schema};\n{script}")).unwrap();
    }
}

/// Runs queries of one column each and compares what they give.
fn compare(server: &PostgresServer, cases: &[(String, String)]) {
    let queries: Vec<String> = cases.iter().map(|(query, _)| literal(query)).collect();
    let sql = format!(
        "SELECT coalesce(translate(outcome(query), chr(10) || chr(13), '  '), 'null') FROM unnest(ARRAY[{}]) WITH ORDINALITY q(query, n) \
         ORDER BY n;",
        queries.join(",\n")
    );
    let answers = psql(server, &sql).unwrap();
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), cases.len());
    for (answer, (query, expected)) in answers.iter().zip(cases) {
        // An error by its SQLSTATE and code only.
        let is_same =
            answer == expected || (expected.contains("FLAKEID_") && answer.starts_with(expected));
        assert!(is_same, "{query}: {answer}, not {expected}");
    }
}

#[test]
fn decoding_agrees_with_the_vectors() {
    let server = PostgresServer::new();
    psql(&server, OUTCOME).unwrap();
    let vectors = vectors("layouts.json");
    let schemas = schemas(&vectors);
    install(&server, &schemas);
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
            let time = format!("(extract(epoch FROM {schema}.flakeid_time({id})) * 1000)::bigint");
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
    assert!(cases.len() > 1400, "{}", cases.len());
    compare(&server, &cases);
    bounds_agree(&server, &vectors, &schemas);
    inspecting_agrees(&server, &schemas, &decoded);
    texts_agree(&server);
}

fn bounds_agree(
    server: &PostgresServer,
    vectors: &Value,
    schemas: &BTreeMap<String, (Layout, String)>,
) {
    let mut cases = Vec::new();
    for case in array(&vectors["bounds"]) {
        let Some((layout, schema)) = schemas.get(text(&case["layout"])) else { continue };
        let unix_ms: i64 = text(&case["unix_ms"]).parse().unwrap();
        let instant = match unix_ms {
            ..FIRST_YEAR => "-infinity".to_owned(),
            FIRST_YEAR..=LAST_FOUR_DIGIT_YEAR => Rfc3339::with_fewest_digits(unix_ms).to_string(),
            // Later than any timestamp, or not written in four digits.
            _ if layout.horizon() <= LAST_FOUR_DIGIT_YEAR => "infinity".to_owned(),
            _ => continue,
        };
        for (function, bound) in [("min", "lower"), ("max", "upper")] {
            let query = format!("SELECT {schema}.flakeid_{function}('{instant}')");
            cases.push((query, text(&case[bound]).to_owned()));
        }
    }
    // Any other instant belongs to the tick of its millisecond.
    for (layout, schema) in schemas.values() {
        for (text, unix_ms) in [
            ("2026-11-23T04:05:06.789999+02:00", 1_795_399_506_789),
            ("2026-11-23 00:00:00.000001+00", 1_795_392_000_000),
        ] {
            let query = format!("SELECT {schema}.flakeid_min('{text}')");
            cases.push((query, layout.lower_bound(unix_ms).to_string()));
        }
    }
    assert!(cases.len() > 400, "{}", cases.len());
    compare(server, &cases);
}

/// `flakeid_inspect` and `flakeid inspect --json` write the same.
fn inspecting_agrees(
    server: &PostgresServer,
    schemas: &BTreeMap<String, (Layout, String)>,
    decoded: &BTreeMap<&str, Vec<&str>>,
) {
    for (layout, ids) in decoded {
        let schema = &schemas[*layout].1;
        let args = [&["inspect", "--json", "--layout", layout], ids.as_slice()].concat();
        let sql = format!(
            "SELECT {schema}.flakeid_inspect(id) FROM unnest('{{{}}}'::bigint[]) id;",
            ids.join(",")
        );
        let written = psql(server, &sql).unwrap();
        let written: Vec<Value> =
            written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(written, run(&args).quiet().json(), "{layout}");
    }
}

fn texts_agree(server: &PostgresServer) {
    let mut cases = Vec::new();
    for form in array(&vectors("text.json")["forms"]) {
        let name = literal(text(&form["form"]));
        let signed = |case: &Value| text(&case["id"]).parse::<u64>().unwrap().cast_signed();
        let parse = |case: &Value| {
            format!("SELECT l0.flakeid_parse({}, {name})", literal(text(&case["text"])))
        };
        for case in array(&form["valid"]) {
            let encode = format!("SELECT l0.flakeid_text('{}', {name})", signed(case));
            cases.push((encode, text(&case["text"]).to_owned()));
        }
        for case in array(&form["valid"]).iter().chain(array(&form["accepted"])) {
            cases.push((parse(case), signed(case).to_string()));
        }
        // A text of SQL has no U+0000.
        let sayable = |case: &&Value| !text(&case["text"]).contains('\0');
        for case in array(&form["rejected"]).iter().filter(sayable) {
            cases.push((parse(case), format!("IDINV {}", text(&case["code"]))));
        }
    }
    cases.push((
        "SELECT l0.flakeid_text(1, 'base99')".into(),
        "IDOPT FLAKEID_INVALID_OPTION".into(),
    ));
    cases.push(("SELECT l0.flakeid_text(NULL, 'hex')".into(), "null".into()));
    assert!(cases.len() > 1500, "{}", cases.len());
    compare(server, &cases);
}
