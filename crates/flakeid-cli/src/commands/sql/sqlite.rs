//! The script for a connection to `SQLite`. The script loads and configures the extension that
//! provides the functions.

use flakeid_core::{Error, Layout};

/// Returns the two statements that every connection must run. `options` contains all options of the
/// extension except the layout.
pub(super) fn script(layout: &Layout, options: &[String]) -> String {
    let options = [&[format!("layout={layout}")], options].concat();
    let calls: Vec<String> = options.iter().map(|option| literal(option)).collect();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "-- flakeid {version}, dialect sqlite (SQLite 3.14 or later)\n\
         -- layout {layout}\n\
         --\n\
         -- The functions are in the library flakeid_sqlite, which is part of flakeid's archive for C. Give its path\n\
         -- if the system does not find it. Run this on every connection, because each has its own options.\n\
         SELECT load_extension('flakeid_sqlite');\n\
         SELECT flakeid_configure({});\n",
        calls.join(", ")
    )
}

/// Rejects options that are available only in the scripts for database servers.
pub(super) fn check(name: Option<&str>, schema: Option<&str>, keyed: bool) -> Result<(), Error> {
    let refuse = |option, reason| Err(Error::invalid_option(option, reason));
    if name.is_some() {
        let reason = "with SQLite, each process leases its own node: omit all options except --store and --namespace";
        return refuse("--name", reason);
    }
    if schema.is_some() {
        return refuse(
            "--schema",
            "SQLite's functions belong to a connection, not to a schema: omit this option",
        );
    }
    if keyed {
        let reason = "the extension always has these functions: add a domain with \
                      SELECT flakeid_add_domain('user', readfile('public.keys'), 'usr')";
        return refuse("--keyed", reason);
    }
    Ok(())
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
