//! The flakeid configuration of one SQLite connection.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flakeid::{Error, Generator, Layout, LeaseBuilder, Location, PublicIds, SetByName};

/// The state that all functions of one connection share. SQLite calls the functions of a connection one at a time.
#[derive(Default)]
pub(crate) struct Connection(Mutex<State>);

#[derive(Default)]
struct State {
    layout: Option<Layout>,
    generator: Option<Generator>,
    domains: BTreeMap<String, PublicIds>,
}

impl Connection {
    /// Locks the state. A poisoned lock is accepted: every change is a single assignment, so a panic cannot leave a
    /// partial change.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The configured layout.
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        self.state().layout.ok_or_else(|| {
            let reason =
                "this connection has no layout; run SELECT flakeid_configure('layout=twitter') first";
            Error::invalid_option("layout", reason)
        })
    }

    /// Returns the configured generator, or an error if the connection has none. The lock is released before the
    /// generator issues IDs, so no call holds the lock while waiting for an ID.
    pub(crate) fn generator(&self) -> Result<Generator, Error> {
        self.state().generator.clone().ok_or_else(|| {
            let reason = "this connection has no generator; first SELECT \
                          flakeid_configure('layout=twitter', 'node=7'), or 'store=URL' for a node that is leased";
            Error::invalid_option("node", reason)
        })
    }

    /// Applies options of the form `name=value`, and opens a generator if any option besides `layout` is given. `files`
    /// lists the files of the connection's databases.
    pub(crate) fn configure(&self, options: &[&str], files: &[PathBuf]) -> Result<Layout, Error> {
        let mut known = self.state().layout;
        let (mut store, mut others) = (None, Vec::new());
        let mut layout = None;
        for option in options {
            let Some((name, value)) = option.split_once('=') else {
                let shown: String = option.chars().take(40).collect();
                let reason =
                    format!("{shown:?} is not an option; write name=value, as in 'node=7'");
                return Err(Error::invalid_option("options", &reason));
            };
            match name {
                "layout" => layout = Some(value.parse::<Layout>()?),
                "store" => store = Some(Location::parse(value)?),
                _ => others.push((name, value)),
            }
        }
        // The layout of a connection cannot change, because an index may contain values that were decoded with the
        // first layout.
        if let (Some(known), Some(given)) = (&known, &layout)
            && known != given
        {
            let reason = format!(
                "this connection has the layout {known}; open another connection for {given}"
            );
            return Err(Error::invalid_option("layout", &reason));
        }
        known = known.or(layout);
        let layout = known.unwrap_or_default();
        fits_a_column(&layout)?;
        let generator = match store {
            Some(store) => {
                is_no_database(&store, files)?;
                Some(set(LeaseBuilder::from_location(store, layout), &others)?.open()?)
            }
            None if others.is_empty() => None,
            None => Some(set(Generator::builder(layout), &others)?.build()?),
        };
        let mut state = self.state();
        state.layout = Some(layout);
        if let Some(generator) = generator {
            state.generator = Some(generator);
        }
        Ok(layout)
    }

    /// Adds a domain of public IDs. The new domain replaces any previous domain with the same name.
    pub(crate) fn add_domain(&self, name: &str, ids: PublicIds) {
        self.state().domains.insert(name.to_owned(), ids);
    }

    /// Returns the public-ID domain with the given name.
    pub(crate) fn domain(&self, name: &str) -> Result<PublicIds, Error> {
        self.state().domains.get(name).cloned().ok_or_else(|| {
            let shown: String = name.chars().take(64).collect();
            let reason = format!(
                "{shown:?} is not a domain of this connection; run SELECT flakeid_add_domain(name, keyring) first"
            );
            Error::invalid_option("domain", &reason)
        })
    }
}

fn set<B: SetByName>(mut builder: B, options: &[(&str, &str)]) -> Result<B, Error> {
    for (name, value) in options {
        builder.set_text(name, value)?;
    }
    Ok(builder)
}

/// Checks that a layout's IDs fit into a signed column. Otherwise, an ID with the top bit set would sort before all
/// other IDs, and the bounds of time ranges would be wrong.
fn fits_a_column(layout: &Layout) -> Result<(), Error> {
    if layout.width() < 64 {
        return Ok(());
    }
    let reason = format!(
        "{layout} has 64 bits, and SQLite's integers are signed, so an ID with the top bit set sorts before all \
         others; use a layout of at most 63 bits"
    );
    Err(Error::invalid_option("layout", &reason))
}

/// Checks that the lease store is not a database of the connection. The program's SQLite and the library's own copy of
/// SQLite do not detect each other's locks. When one copy closes a file, the process also loses the other copy's locks
/// on the file.
fn is_no_database(store: &Location, files: &[PathBuf]) -> Result<(), Error> {
    let Some(store) = store.file() else { return Ok(()) };
    match files.iter().find(|file| is_same(file, &store)) {
        None => Ok(()),
        Some(file) => {
            let reason = format!(
                "{} is already open in this connection; use a file that only flakeid opens, such as {}-leases",
                file.display(),
                store.display()
            );
            Err(Error::invalid_option("store", &reason))
        }
    }
}

fn is_same(file: &Path, store: &Path) -> bool {
    match (fs::canonicalize(file), fs::canonicalize(store)) {
        (Ok(file), Ok(store)) => file == store,
        // At least one of the files does not exist yet, so only the folders of the files can be resolved. The path of a
        // database always contains a folder, because SQLite returns absolute paths.
        _ => file == store || is_in_same_folder(file, store),
    }
}

fn is_in_same_folder(file: &Path, store: &Path) -> bool {
    let folder = |path: &Path| path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    file.file_name() == store.file_name() && folder(file) == folder(store)
}
