//! The options of a lease from a broker, which are set by name.

use std::fmt;
use std::time::Duration;

use flakeid_core::{Error, Layout, NamedOption, SetByName};

use crate::OPEN_WAIT;
use flakeid_protocol::Identity;
use flakeid_protocol::keeper::LeaseOptions;

/// The options of a [`FetchLease`](super::FetchLease). These are all lease options that brokers support, with the
/// same names and defaults as for other leases.
///
/// Without a layout, the lease uses the namespace's layout. The defaults and ranges of some options depend on the
/// layout, so the options are kept as strings, and parsed when the layout is known.
///
/// ```
/// use flakeid::fetch::FetchOptions;
///
/// let options = FetchOptions::new(None).with("namespace", "orders").with("token", "secret");
/// assert!(FetchOptions::described().contains("namespace"));
/// // `Debug` omits the values, because one of them is the token.
/// assert!(!format!("{options:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct FetchOptions {
    layout: Option<Layout>,
    given: Vec<(String, String)>,
}

/// The options, parsed for one layout.
pub(super) struct ParsedOptions {
    pub(super) options: LeaseOptions,
    /// The token that this process sends to the broker.
    pub(super) token: Option<String>,
    pub(super) open_wait: Duration,
}

impl FetchOptions {
    /// Creates options for the given layout, or for the namespace's layout if `layout` is `None`.
    #[must_use]
    pub const fn new(layout: Option<Layout>) -> Self {
        Self { layout, given: Vec::new() }
    }

    /// Sets the option `name` to the value `text`. The value is checked when the lease is opened.
    #[must_use]
    pub fn with(mut self, name: &str, text: &str) -> Self {
        self.given.push((name.into(), text.into()));
        self
    }

    /// Returns the name and the value type of each option, in the format of [`SetByName::described`].
    #[must_use]
    pub fn described() -> String {
        ParsedOptions::described()
    }

    pub(super) const fn layout(&self) -> Option<Layout> {
        self.layout
    }

    /// Parses the options for a layout.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) and
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) for invalid options.
    pub(super) fn read(&self, layout: Layout) -> Result<ParsedOptions, Error> {
        let mut read =
            ParsedOptions { options: LeaseOptions::new(layout), token: None, open_wait: OPEN_WAIT };
        for (name, text) in &self.given {
            read.set_text(name, text)?;
        }
        read.options.check()?;
        Ok(read)
    }
}

impl fmt::Debug for FetchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.given.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("FetchOptions")
            .field("layout", &self.layout)
            .field("given", &names)
            .finish_non_exhaustive()
    }
}

impl SetByName for ParsedOptions {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption::text("namespace", |read, name| {
            read.options.namespace = name.into();
            Ok(())
        }),
        NamedOption::text("name", |read, name| {
            read.options.identity = Identity::Name(name.into());
            Ok(())
        }),
        NamedOption::text("token", |read, token| {
            if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                let reason = "must be printable ASCII without spaces";
                return Err(Error::invalid_option("token", reason));
            }
            read.token = Some(token.into());
            Ok(())
        }),
        NamedOption::duration("ttl_ms", |read, ttl| read.options.set_ttl(ttl)),
        NamedOption::duration("window_ms", |read, window| read.options.set_window(window)),
        NamedOption::duration("max_wait_ms", |read, max_wait| read.options.max_wait = max_wait),
        NamedOption::duration("open_wait_ms", |read, open_wait| read.open_wait = open_wait),
        NamedOption::text("overflow", |read, text| {
            text.parse().map(|overflow| read.options.policy.overflow = overflow)
        }),
        NamedOption::text("rollback", |read, text| {
            text.parse().map(|rollback| read.options.policy.rollback = rollback)
        }),
        NamedOption::number(
            "sequence_mask",
            |read| read.options.layout.max_sequence(),
            |read, mask| read.options.sequence_mask = Some(mask),
        ),
        NamedOption::number(
            "sequence_start",
            |read| read.options.layout.max_sequence().count_ones().into(),
            |read, bits| read.options.sequence_start = bits,
        ),
    ];
}
