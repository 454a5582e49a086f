//! What a connection to `SQLite` has to run first: it loads the extension, which has the functions.

use flakeid_core::{Error, Layout};

/// Two statements, which every connection needs; `options` are those besides the layout.
pub(super) fn script(layout: &Layout, options: &[String]) -> String {
    let options = [&[format!("layout={layout}")], options].concat();
    let calls: Vec<String> = options.iter().map(|option| literal(option)).collect();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "-- flakeid {version}, dialect sqlite (SQLite 3.14 or later)\n\
         -- layout {layout}\n\
         --\n\
         -- The functions are those of the library flakeid_sqlite, which is in flakeid's archive for C. Give its path\n\
         -- where the system does not find it. Run this on every connection: options are kept by connection.\n\
         SELECT load_extension('flakeid_sqlite');\n\
         SELECT flakeid_configure({});\n",
        calls.join(", ")
    )
}

/// Refuses options that only servers have.
pub(super) fn check(name: Option<&str>, schema: Option<&str>, keyed: bool) -> Result<(), Error> {
    let refuse = |option, reason| Err(Error::invalid_option(option, reason));
    if name.is_some() {
        let reason = "SQLite runs in your processes, which lease a node each: give --store and --namespace only";
        return refuse("--name", reason);
    }
    if schema.is_some() {
        return refuse("--schema", "SQLite's functions belong to a connection: leave it out");
    }
    if keyed {
        let reason = "the extension has these functions in any case: name a domain with \
                      SELECT flakeid_add_domain('user', readfile('public.keys'), 'usr')";
        return refuse("--keyed", reason);
    }
    Ok(())
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
