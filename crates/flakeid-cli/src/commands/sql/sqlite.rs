//! What a connection to `SQLite` has to run first: it loads the extension, which has the functions.

use flakeid_core::{Error, Layout};

use super::{SqlArgs, can_generate, fits_a_column};
use crate::failure::Failure;
use crate::format::number;

/// Two statements, which every connection needs.
pub(super) fn script(args: &SqlArgs) -> Result<String, Failure> {
    refuse_what_others_have(args)?;
    let (layout, options) =
        if args.store.is_given() { leased(args)? } else { without_a_store(args)? };
    let calls: Vec<String> = options.iter().map(|option| literal(option)).collect();
    let version = env!("CARGO_PKG_VERSION");
    Ok(format!(
        "-- flakeid {version}, dialect sqlite (SQLite 3.14 or later)\n\
         -- layout {layout}\n\
         --\n\
         -- The functions are those of the library flakeid_sqlite, which is in flakeid's archive for C. Give its path\n\
         -- where the system does not find it. Run this on every connection: options are kept by connection.\n\
         SELECT load_extension('flakeid_sqlite');\n\
         SELECT flakeid_configure({});\n",
        calls.join(", ")
    ))
}

fn refuse_what_others_have(args: &SqlArgs) -> Result<(), Error> {
    let refuse = |option, reason| Err(Error::invalid_option(option, reason));
    if args.name.is_some() {
        let reason = "SQLite runs in your processes, which lease a node each: give --store and --namespace only";
        return refuse("--name", reason);
    }
    if args.schema.is_some() {
        return refuse("--schema", "SQLite's functions belong to a connection: leave it out");
    }
    if args.keyed {
        let reason = "the extension has these functions in any case: name a domain with \
                      SELECT flakeid_add_domain('user', readfile('public.keys'), 'usr')";
        return refuse("--keyed", reason);
    }
    Ok(())
}

/// The options of a connection with a fixed node, or of one that only decodes.
fn without_a_store(args: &SqlArgs) -> Result<(Layout, Vec<String>), Failure> {
    let layout = args.layout.resolve()?;
    fits_a_column(&layout)?;
    let mut options = vec![format!("layout={layout}")];
    if let Some(node) = &args.node {
        let node = number::parse("node", node, 0, layout.max_node())?;
        can_generate(&layout)?;
        options.push(format!("node={node}"));
    } else if !args.decode_only {
        let reason = format!(
            "missing: give --node N (0 to {}) or --store URL for IDs that SQLite generates, or --decode-only",
            layout.max_node()
        );
        return Err(Error::invalid_option("--node", &reason).into());
    }
    Ok((layout, options))
}

/// The options of connections that lease: the layout is that of the namespace.
fn leased(args: &SqlArgs) -> Result<(Layout, Vec<String>), Failure> {
    if args.decode_only || args.node.is_some() {
        let reason = "give a store for nodes that are leased, or else --node or --decode-only";
        return Err(Error::invalid_option("--store", reason).into());
    }
    let mut connection = args.store.connect()?;
    let kept = connection.list()?.namespace;
    if let Some(given) = args.layout.given()?
        && !given.is_same_space(&kept.layout)
    {
        let reason =
            format!("the namespace is for the layout {}, not {given}: leave it out", kept.layout);
        return Err(Error::invalid_option("--layout", &reason).into());
    }
    fits_a_column(&kept.layout)?;
    can_generate(&kept.layout)?;
    let options = vec![
        format!("layout={}", kept.layout),
        format!("store={}", connection.location.as_url()),
        format!("namespace={}", kept.name),
    ];
    Ok((kept.layout, options))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
