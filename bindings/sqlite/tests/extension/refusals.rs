//! Tests of calls that the extension rejects, and of the error messages.

use std::path::Path;

use super::{answer, configure, configured, load, open};

fn says(said: Result<String, String>, parts: &[&str]) {
    let said = said.unwrap_err();
    for part in parts {
        assert!(said.contains(part), "{said:?} lacks {part:?}");
    }
}

#[test]
fn sql_functions_fail_until_the_connection_is_configured() {
    let connection = open(Path::new(":memory:"));
    for sql in
        ["flakeid_time(1)", "flakeid_min('2026-01-01')", "flakeid_inspect(1)", "flakeid_layout()"]
    {
        let said = answer(&connection, &format!("SELECT {sql}"));
        says(said, &["FLAKEID_INVALID_OPTION", "flakeid_configure('layout=twitter')"]);
    }
    configure(&connection, &["layout=twitter"]).unwrap();
    says(
        answer(&connection, "SELECT flakeid_next()"),
        &["FLAKEID_INVALID_OPTION", "node: ", "'store=URL'"],
    );
    says(
        answer(&connection, "SELECT id FROM flakeid_next_n(1)"),
        &["FLAKEID_INVALID_OPTION", "node: "],
    );
}

#[test]
fn configure_rejects_invalid_options() {
    let connection = open(Path::new(":memory:"));
    for (options, parts) in [
        (
            &["layout=twitter", "node=1024"][..],
            &["FLAKEID_FIELD_OUT_OF_RANGE", "node 1024", "0 to 1023"][..],
        ),
        (&["layout=nonsense"], &["FLAKEID_INVALID_LAYOUT", "nonsense"]),
        (&["layout=twitter", "nodes=x"], &["FLAKEID_FIELD_OUT_OF_RANGE", "nodes"]),
        (
            &["layout=twitter", "colour=red"],
            &["FLAKEID_INVALID_OPTION", "\"colour\"", "node: number"],
        ),
        (&["layout=twitter", "store=sqlite://x", "colour=red"], &["\"colour\"", "namespace: text"]),
        (&["layout=twitter", "store=file:x"], &["FLAKEID_INVALID_OPTION", "store"]),
        (&["twitter"], &["FLAKEID_INVALID_OPTION", "name=value"]),
        (&["layout=discord"], &["FLAKEID_INVALID_OPTION", "64 bits", "at most 63"]),
        (&["layout=baidu", "node=1"], &["FLAKEID_HORIZON_REACHED"]),
    ] {
        says(configure(&connection, options), parts);
    }
    // The rejected calls must not have configured the connection.
    says(answer(&connection, "SELECT flakeid_layout()"), &["flakeid_configure"]);
    says(
        answer(&connection, "SELECT flakeid_configure(7)"),
        &["options: must be text, not an integer"],
    );
    configure(&connection, &["layout=twitter"]).unwrap();
    says(configure(&connection, &["layout=sonyflake"]), &["layout", "open another connection"]);
}

#[test]
fn sql_functions_reject_arguments_of_invalid_type_or_value() {
    let connection = configured(&["layout=twitter", "node=710"]);
    for (call, part) in [
        ("time('910499571847892992')", "id: must be an integer, not text"),
        ("time(1.0)", "not precise enough"),
        ("node(x'00')", "not a blob"),
        ("min(1795392000)", "time: must be text, not an integer"),
        ("min('yesterday')", "is not a time"),
        ("text(1, 'base99')", "base62"),
        ("text(1, 7)", "form: must be text"),
        ("parse('!', 'hex')", "FLAKEID_INVALID_ID"),
    ] {
        says(answer(&connection, &format!("SELECT flakeid_{call}")), &["FLAKEID_", part]);
    }
}

/// Checks that the store and the connection never share a file, because two copies of SQLite in one process would
/// release each other's locks.
#[test]
fn configure_rejects_an_open_database_as_a_lease_store() {
    let folder = tempfile::tempdir().unwrap();
    let (database, other) = (folder.path().join("app.db"), folder.path().join("other.db"));
    let connection = open(&database);
    connection.execute("ATTACH ? AS other", [other.to_str().unwrap()]).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    for has_files in [false, true] {
        for file in [&database, &other, &link.join("app.db")] {
            let store = format!("store=sqlite://{}", file.display());
            let said = configure(&connection, &["layout=twitter", &store]);
            says(
                said,
                &["FLAKEID_INVALID_OPTION", "is already open in this connection", "-leases"],
            );
        }
        if !has_files {
            connection.execute_batch("CREATE TABLE t (a); CREATE TABLE other.u (a)").unwrap();
        }
    }
    let store = format!("store=sqlite://{}", folder.path().join("leases.db").display());
    configure(&connection, &["layout=twitter", &store]).unwrap();
}

/// Checks that a schema, which may come from an untrusted source, can neither configure the extension nor
/// generate IDs.
#[test]
fn untrusted_schema_cannot_call_configure_or_next() {
    let connection = configured(&["layout=twitter", "node=711"]);
    connection.execute_batch("CREATE VIEW v AS SELECT flakeid_configure('node=1')").unwrap();
    says(answer(&connection, "SELECT * FROM v"), &["unsafe use of flakeid_configure()"]);
    connection
        .execute_batch(
            "PRAGMA trusted_schema = OFF; CREATE VIEW d AS SELECT flakeid_node(1);
             CREATE VIEW n AS SELECT flakeid_next();",
        )
        .unwrap();
    assert_eq!(answer(&connection, "SELECT * FROM d").as_deref(), Ok("0"));
    says(answer(&connection, "SELECT * FROM n"), &["unsafe use of flakeid_next()"]);
}

#[test]
fn index_on_a_non_deterministic_function_is_rejected() {
    let connection = configured(&["layout=twitter", "node=712"]);
    connection.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY)").unwrap();
    let said = connection.execute_batch("CREATE INDEX i ON t (flakeid_next())").unwrap_err();
    assert!(said.to_string().contains("non-deterministic"), "{said}");
}

#[test]
fn extension_can_be_loaded_twice_in_one_connection() {
    let connection = configured(&["layout=twitter", "node=713"]);
    load(&connection);
    // The second load replaces all functions of the extension. The new functions have not been configured yet.
    says(answer(&connection, "SELECT flakeid_next()"), &["flakeid_configure"]);
}
