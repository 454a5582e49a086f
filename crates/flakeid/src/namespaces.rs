//! The creation of namespaces.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{
    Clock, Error, Layout, NamedOption, OptionKind, SetByName, SystemClock, whole_ms,
};

use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Bounds, Namespace, operations, rules};
use flakeid_stores::Location;

/// The options of a new namespace. All options have defaults.
///
/// A process leases nodes only from an existing namespace, so that a misspelt name causes an error instead of a
/// separate ID space. An embedded store (`sqlite://`) creates a namespace at its first lease; on a server, a
/// namespace is created with this builder or with the command `flakeid leases init`.
///
/// A server cannot distinguish a namespace that never existed from a namespace that it has lost, for example in a
/// restored backup. Therefore, a created namespace grants nothing until all leases that the lost namespace may have
/// granted have ended. This takes 15 s with the default bounds, and the first IDs are then up to 18 s ahead of the
/// clock. Each assumed bound of the lost namespace is the larger of the default bound and the new bound.
/// If the lost namespace may have had larger bounds, specify them with [`lost`](Self::lost). An embedded store
/// detects its losses by itself, so its nodes can usually be leased at once.
///
/// If the namespace already exists with the same layout, the same blocks and the given options, nothing changes, so
/// every process can create its namespace when it starts.
///
/// ```
/// use std::time::Duration;
///
/// use flakeid::{Layout, NamespaceBuilder};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/ids.db", folder.path().display());
/// let created = NamespaceBuilder::new(&url, "orders", Layout::TWITTER)?
///     .max_window(Duration::from_secs(60))
///     .create()?;
/// std::thread::sleep(created.wait);
/// let generator = flakeid::lease(&url, Layout::TWITTER)?.namespace("orders").open()?;
/// # Ok::<(), flakeid::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until the namespace is created"]
pub struct NamespaceBuilder {
    location: Location,
    name: String,
    layout: Layout,
    max_window_ms: Option<u64>,
    max_ahead_ms: Option<u64>,
    max_skew_ms: Option<u64>,
    quiet_ms: Option<u64>,
    block_bits: u64,
    history: Option<bool>,
    fresh: bool,
    lost: Option<Bounds>,
}

/// A namespace that [`NamespaceBuilder::create`] created or found.
///
/// ```
/// use flakeid::{Layout, NamespaceBuilder};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/ids.db", folder.path().display());
/// let builder = NamespaceBuilder::new(&url, "orders", Layout::TWITTER)?;
/// assert!(builder.create()?.is_new);
/// assert!(!builder.create()?.is_new);
/// # Ok::<(), flakeid::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreatedNamespace {
    /// The namespace in the store.
    pub namespace: Namespace,
    /// Whether the namespace did not exist before.
    pub is_new: bool,
    /// The time until the store can grant nodes.
    pub wait: Duration,
}

impl NamespaceBuilder {
    /// Returns a builder for the namespace `name` of the store at `url`. The name consists of 1 to 64 characters of
    /// `A-Z a-z 0-9 . _ -`.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the URL does not belong to a known kind of store.
    pub fn new(url: &str, name: &str, layout: Layout) -> Result<Self, Error> {
        Ok(Self::from_location(Location::parse(url)?, name, layout))
    }

    /// Returns a builder for a namespace of a store whose URL has already been parsed.
    pub fn from_location(location: Location, name: &str, layout: Layout) -> Self {
        Self {
            location,
            name: name.into(),
            layout,
            max_window_ms: None,
            max_ahead_ms: None,
            max_skew_ms: None,
            quiet_ms: None,
            block_bits: 0,
            history: None,
            fresh: false,
            lost: None,
        }
    }

    /// Sets the longest window: the time for which processes can issue IDs while the store is unavailable, in whole
    /// milliseconds. The default is 10 s or four ticks, whichever is longer.
    pub fn max_window(mut self, max_window: Duration) -> Self {
        self.max_window_ms = Some(whole_ms(max_window));
        self
    }

    /// Sets the longest time by which a window may start ahead of the clock, in whole milliseconds. The default is
    /// 20 s or four ticks, whichever is longer.
    pub fn max_ahead(mut self, max_ahead: Duration) -> Self {
        self.max_ahead_ms = Some(whole_ms(max_ahead));
        self
    }

    /// Sets the largest allowed difference between a host's clock and the store's clock, in whole milliseconds. The
    /// default is 1 s.
    pub fn max_skew(mut self, max_skew: Duration) -> Self {
        self.max_skew_ms = Some(whole_ms(max_skew));
        self
    }

    /// Sets the time for which the store grants nothing after a restart, a failover or a restore, in whole
    /// milliseconds. The default suits the other bounds, and is at least 15 s.
    pub fn quiet(mut self, quiet: Duration) -> Self {
        self.quiet_ms = Some(whole_ms(quiet));
        self
    }

    /// Sets the number of bits of a block: brokers lease blocks of 2^`bits` nodes. The default is 0: processes lease
    /// single nodes from the store.
    pub fn block_bits(mut self, bits: u64) -> Self {
        self.block_bits = bits;
        self
    }

    /// Sets whether the store records which process held which node. The default is true.
    pub fn history(mut self, history: bool) -> Self {
        self.history = Some(history);
        self
    }

    /// Specifies that the store has never had a namespace with this name, so that the store grants nodes at once. If
    /// the declaration is false, IDs may be issued twice. Do not call this method when a program starts: after the
    /// store has lost its data, the declaration is false.
    pub fn fresh(mut self, fresh: bool) -> Self {
        self.fresh = fresh;
        self
    }

    /// Specifies that the store has lost a namespace with this name and these bounds. The store grants nodes after
    /// all lost leases have ended. Bounds that are too large only cause a longer wait; with bounds that are too
    /// small, IDs may be issued twice.
    pub fn lost(mut self, lost: Bounds) -> Self {
        self.lost = Some(lost);
        self
    }

    /// Returns the bounds of the new namespace: the given bounds, and defaults for the others.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let defaults = Bounds::of(&self.layout);
        let bounds = Bounds {
            max_window_ms: self.max_window_ms.unwrap_or(defaults.max_window_ms),
            max_ahead_ms: self.max_ahead_ms.unwrap_or(defaults.max_ahead_ms),
            max_skew_ms: self.max_skew_ms.unwrap_or(defaults.max_skew_ms),
            quiet_ms: 0,
        };
        let defaults = bounds.with_usual_quiet(&self.layout);
        Bounds { quiet_ms: self.quiet_ms.unwrap_or(defaults.quiet_ms), ..defaults }
    }

    /// Creates the namespace, with the tables or keys that the store needs for it, unless the namespace exists. On a
    /// database server, this requires a user who may create tables.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) and [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) for an invalid
    /// name or option, and if the namespace exists with a value other than a given option;
    /// [`StoreRejected`](flakeid_core::ErrorKind::StoreRejected) if the namespace exists with another layout or other blocks, for
    /// the URL of a broker, and for a wrong password or missing permissions;
    /// [`StoreUnavailable`](flakeid_core::ErrorKind::StoreUnavailable) if the store does not respond.
    pub fn create(&self) -> Result<CreatedNamespace, Error> {
        self.check()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let mut store = self.location.connect(&clock).map_err(|fault| self.error(&fault))?;
        self.create_on(&mut *store)
    }

    /// Creates the namespace, like [`create`](Self::create), through an open connection.
    ///
    /// # Errors
    /// The same errors as [`create`](Self::create).
    #[doc(hidden)]
    pub fn create_on(&self, store: &mut dyn Store) -> Result<CreatedNamespace, Error> {
        let wanted = self.wanted()?;
        let usual = Bounds::of(&self.layout);
        let lost = match &self.lost {
            Some(lost) => Some(lost),
            None if self.fresh || store.creates_namespaces() => None,
            None => Some(&usual),
        };
        let created = operations::create(store, &wanted, lost);
        let (namespace, is_new) = created.map_err(|fault| self.error(&fault))?;
        if !is_new {
            self.check_options(&namespace)?;
        }
        let wait = Duration::from_millis(rules::wait_to_grant(&namespace, SystemClock.unix_ms()));
        Ok(CreatedNamespace { namespace, is_new, wait })
    }

    /// Checks the name and the options, without a connection to the store.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) and
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange).
    pub fn check(&self) -> Result<(), Error> {
        self.wanted().map(drop)
    }

    fn wanted(&self) -> Result<Namespace, Error> {
        Namespace::check_name(&self.name)?;
        let mut wanted = Namespace::new(&self.name, self.layout);
        wanted.bounds = self.bounds();
        wanted.bounds.check(&self.layout)?;
        wanted.keeps_history = self.history.unwrap_or(true);
        wanted.block_bits = u32::try_from(self.block_bits)
            .map_err(|_| Error::option_out_of_range("block_bits", &self.block_bits, 0, 16))?;
        wanted.check_block_bits()?;
        Ok(wanted)
    }

    /// Checks that an existing namespace has the given options.
    fn check_options(&self, existing: &Namespace) -> Result<(), Error> {
        let bounds = &existing.bounds;
        for (option, given, kept) in [
            ("max_window_ms", self.max_window_ms, bounds.max_window_ms),
            ("max_ahead_ms", self.max_ahead_ms, bounds.max_ahead_ms),
            ("max_skew_ms", self.max_skew_ms, bounds.max_skew_ms),
            ("quiet_ms", self.quiet_ms, bounds.quiet_ms),
        ] {
            if let Some(given) = given.filter(|given| *given != kept) {
                let reason = format!(
                    "is {given} ms, but namespace {:?} exists with {kept} ms, which never changes: omit the option, \
                     or use another namespace",
                    self.name
                );
                return Err(Error::invalid_option(option, &reason));
            }
        }
        if self.history.is_some_and(|given| given != existing.keeps_history) {
            let kept = if existing.keeps_history { "with" } else { "without" };
            let reason = format!(
                "namespace {:?} exists {kept} a history, which never changes: omit the option, or use another \
                 namespace",
                self.name
            );
            return Err(Error::invalid_option("history", &reason));
        }
        Ok(())
    }

    fn error(&self, fault: &Fault) -> Error {
        fault.to_error(&self.location.to_string(), &self.name, &self.layout)
    }
}

/// The options that can be set by name. The layout and the name of the namespace are arguments of
/// [`NamespaceBuilder::new`].
impl SetByName for NamespaceBuilder {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption::duration("max_window_ms", |b, time| b.max_window_ms = Some(whole_ms(time))),
        NamedOption::duration("max_ahead_ms", |b, time| b.max_ahead_ms = Some(whole_ms(time))),
        NamedOption::duration("max_skew_ms", |b, time| b.max_skew_ms = Some(whole_ms(time))),
        NamedOption::duration("quiet_ms", |b, time| b.quiet_ms = Some(whole_ms(time))),
        NamedOption::number("block_bits", |_| 16, |b, bits| b.block_bits = bits),
        NamedOption {
            name: "history",
            kind: OptionKind::Flag(|b, history| b.history = Some(history)),
        },
        NamedOption { name: "fresh", kind: OptionKind::Flag(|b, fresh| b.fresh = fresh) },
    ];
}

impl fmt::Debug for NamespaceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NamespaceBuilder({} of {})", self.name, self.location)
    }
}
