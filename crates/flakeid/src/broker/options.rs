//! The options of a broker, and the checks of their values.

use std::time::Duration;

use flakeid_core::{Error, Layout};

use flakeid_protocol::Namespace;

/// The options of a broker.
///
/// ```
/// use flakeid::Layout;
/// use flakeid::broker::BrokerOptions;
///
/// let mut options = BrokerOptions::new("orders", Layout::TWITTER, "http://ids-1:7117");
/// options.window_ms = 2_000;
/// assert_eq!(options.ttl_ms, 12_000);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BrokerOptions {
    /// The name of the namespace from which the broker leases blocks.
    pub namespace: String,
    /// The layout of the namespace's IDs.
    pub layout: Layout,
    /// The address at which holders reach this broker, such as `http://10.0.0.5:7117`. The address is also the broker's
    /// name in the store, so a restarted broker can lease its previous block again.
    pub address: String,
    /// The number of node bits in a block, if this broker creates the namespace. The default is
    /// [`Namespace::default_block_bits`]. A broker can create a namespace only in an embedded store.
    pub block_bits: Option<u32>,
    /// The window of a block, in milliseconds. The default is the namespace's `max_window`. The broker can serve its
    /// holders for this time while the store is unavailable.
    pub block_window_ms: Option<u64>,
    /// The longest window of a holder, in milliseconds. The default is 4 s or two ticks, whichever is longer. Holders
    /// can issue IDs for this time while the broker is unavailable.
    pub window_ms: u64,
    /// The time, in milliseconds, for which a node stays reserved for its holder if the lease is not renewed. The
    /// default is 12 s or six ticks, whichever is longer.
    pub ttl_ms: u64,
    /// The time for which a request waits for the store to grant another block. The default is 2 s.
    pub max_wait: Duration,
}

impl BrokerOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new(namespace: &str, layout: Layout, address: &str) -> Self {
        let unit_ms = layout.unit_ms();
        Self {
            namespace: namespace.into(),
            layout,
            address: address.into(),
            block_bits: None,
            block_window_ms: None,
            window_ms: unit_ms.saturating_mul(2).max(4_000),
            ttl_ms: unit_ms.saturating_mul(6).max(12_000),
            max_wait: Duration::from_secs(2),
        }
    }

    /// Returns the namespace that this broker would create.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the layout has too few nodes for blocks;
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) if `block_bits` is out of range.
    pub(super) fn wanted(&self) -> Result<Namespace, Error> {
        let default_bits = Namespace::default_block_bits(&self.layout);
        let Some(block_bits) = self.block_bits.or(default_bits) else {
            let reason = "this layout has too few nodes for blocks: lease from a store instead";
            return Err(Error::invalid_option("layout", reason));
        };
        let wanted = Namespace { block_bits, ..Namespace::new(&self.namespace, self.layout) };
        wanted.check_block_bits()?;
        Ok(wanted)
    }

    pub(super) fn block_window_ms(&self, namespace: &Namespace) -> u64 {
        self.block_window_ms.unwrap_or(namespace.bounds.max_window_ms)
    }

    /// Checks the options that depend on the namespace. A holder's window plus the namespace's `max_skew` must be at
    /// most half of a block's window. The reason is that only half of the block's previous window may be left when the
    /// store responds to the block's renewal.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) with the name of the option that is out of range.
    pub(super) fn check(&self, namespace: &Namespace) -> Result<(), Error> {
        let (bounds, block_ms) = (&namespace.bounds, self.block_window_ms(namespace));
        let shortest = self.layout.unit_ms().saturating_mul(2);
        let longest = (block_ms / 2).saturating_sub(bounds.max_skew_ms);
        let least_ttl = self.window_ms.saturating_add(bounds.max_skew_ms);
        for (name, value, min, max) in [
            ("block_window_ms", block_ms, shortest, bounds.max_window_ms),
            ("window_ms", self.window_ms, shortest, longest),
            ("ttl_ms", self.ttl_ms, least_ttl, 30 * 86_400_000),
        ] {
            if value < min || value > max {
                return Err(Error::option_out_of_range(name, &value, min, max));
            }
        }
        Ok(())
    }
}
