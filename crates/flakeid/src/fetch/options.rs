//! The options of a lease from a broker, by name.

use flakeid_core::{Error, Layout, NamedOption, SetByName};

use flakeid_protocol::Identity;
use flakeid_protocol::keeper::LeaseOptions;

/// The options of a [`FetchLease`](super::FetchLease): those of leases that a broker knows, with the
/// same names and defaults as elsewhere.
///
/// Without a layout it is that of the namespace. The defaults and ranges of some options depend on the
/// layout, so options are kept as they were given, and read once it is known.
///
/// ```
/// use flakeid::fetch::FetchOptions;
///
/// let options = FetchOptions::new(None).with("namespace", "orders").with("token", "secret");
/// assert!(FetchOptions::described().contains("namespace"));
/// # drop(options);
/// ```
#[derive(Clone, Debug)]
pub struct FetchOptions {
    layout: Option<Layout>,
    given: Vec<(String, String)>,
}

/// Options that were read for a layout.
pub(super) struct ParsedOptions {
    pub(super) options: LeaseOptions,
    /// What to show to the broker.
    pub(super) token: Option<String>,
}

impl FetchOptions {
    /// For a layout, or for that of the namespace.
    #[must_use]
    pub const fn new(layout: Option<Layout>) -> Self {
        Self { layout, given: Vec::new() }
    }

    /// Sets an option, which is checked when the lease is opened.
    #[must_use]
    pub fn with(mut self, name: &str, text: &str) -> Self {
        self.given.push((name.into(), text.into()));
        self
    }

    /// What options there are, as [`SetByName::described`].
    #[must_use]
    pub fn described() -> String {
        ParsedOptions::described()
    }

    pub(super) const fn layout(&self) -> Option<Layout> {
        self.layout
    }

    /// What the options are in a layout.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) and
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange).
    pub(super) fn read(&self, layout: Layout) -> Result<ParsedOptions, Error> {
        let mut read = ParsedOptions { options: LeaseOptions::new(layout), token: None };
        for (name, text) in &self.given {
            read.set_text(name, text)?;
        }
        read.options.check()?;
        Ok(read)
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
