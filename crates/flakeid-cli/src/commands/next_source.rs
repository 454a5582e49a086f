//! The source of the IDs that `flakeid next` writes: a generator with a fixed or a leased node.
//!
//! Flags or, failing that, environment variables specify the node. If neither specifies a node, the command leases any
//! free node. If a flag or an environment variable specifies a store, the node is always leased from that store.
//! Therefore, no two runs of the command that lease their nodes from the same namespace generate the same IDs.

use std::path::Path;
use std::sync::Once;

use clap::Args;
use flakeid::{Generator, Identity, LeaseBuilder, LeaseEvent};
use flakeid_core::{Error, ErrorKind, Layout, SetByName};
use flakeid_stores::Location;

use crate::args::layout_arg::LayoutArg;
use crate::args::node::{self, NodeArgs};
use crate::args::{self};
use crate::failure::Failure;
use crate::store::{self, StoreArgs};
use crate::terminal;

/// The arguments that specify the layout, the store and the node.
#[derive(Args)]
pub(super) struct LeaseArgs {
    #[command(flatten)]
    layout: LayoutArg,

    #[command(flatten)]
    store: StoreArgs,

    /// Lease the node that was last leased under this name, if that node is free
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    node: NodeArgs,
}

/// The arguments that specify a lease and the start of the sequence numbers.
#[derive(Args)]
pub(super) struct SourceArgs {
    #[command(flatten)]
    lease: LeaseArgs,

    /// Start each tick at a random sequence number of at most this many bits
    ///
    /// Without this option, every ID has sequence number 0 at low rates, so `id mod 2^k` is unevenly distributed. The
    /// option reduces the capacity of each tick by up to 2^BITS IDs.
    #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
    sequence_start: Option<String>,
}

impl SourceArgs {
    pub(super) fn layout(&self) -> Result<Layout, Failure> {
        self.lease.layout()
    }
}

/// Opens a generator, either with a leased node or with a specified node and no lease. Without a lease, flakeid does
/// not check whether another process uses the node.
pub(super) fn open(args: &SourceArgs, layout: Layout) -> Result<Generator, Failure> {
    let identity = args.lease.identity(&layout)?;
    let is_named = args.lease.store.named()?.is_some();
    if !is_named && !leases_from_the_embedded_store(&args.lease, &identity, &layout)? {
        let mut builder = Generator::builder(layout);
        if let Identity::Node(node) = identity {
            builder = builder.node(node);
        }
        if let Some(bits) = &args.sequence_start {
            builder = builder.set("sequence_start", bits)?;
        }
        return Ok(builder.build()?);
    }
    let mut builder = args.lease.builder(layout, identity)?;
    if let Some(bits) = &args.sequence_start {
        builder = builder.set("sequence_start", bits)?;
    }
    Ok(builder.open()?)
}

impl LeaseArgs {
    pub(super) fn layout(&self) -> Result<Layout, Failure> {
        self.layout.resolve()
    }

    /// Returns a builder for a lease from the specified store, or from the embedded store if no store is specified. The
    /// lease is not shared with other generators, and the command notes why opening it takes long.
    pub(super) fn builder(
        &self,
        layout: Layout,
        identity: Identity,
    ) -> Result<LeaseBuilder, Failure> {
        let builder = if let Some(location) = self.store.named()? {
            LeaseBuilder::from_location(location, layout)
        } else {
            note_new_store();
            flakeid::auto(layout).map_err(|error| {
                let ways = format!(
                    "give --store URL or --node N, or set {}=URL or {}=N",
                    store::STORE,
                    node::NODE
                );
                Failure::hinted(error, ways)
            })?
        };
        let noted = Once::new();
        let note_wait = move |event: &LeaseEvent| {
            let waits = |error: &&Error| error.kind() == ErrorKind::FenceInFuture;
            if let Some(error) = event.error().filter(waits) {
                noted.call_once(|| terminal::note(&format!("waiting: {error}")));
            }
        };
        Ok(builder.namespace(&self.store.namespace()?).identity(identity).observer(note_wait))
    }

    /// Returns the identity to request: the specified name, the node that flags or environment variables specify, or
    /// any node.
    pub(super) fn identity(&self, layout: &Layout) -> Result<Identity, Failure> {
        let Some(name) = &self.name else {
            let node = self.node.resolve(layout, args::variable)?;
            return Ok(node.map_or(Identity::Any, Identity::Node));
        };
        if self.node.is_empty() {
            return Ok(Identity::Name(name.clone()));
        }
        Err(Error::invalid_option("name", "give either --name or a node, not both").into())
    }
}

/// Reports once, when the embedded store is about to be created, which programs it serves. Opening the store reports any
/// error.
fn note_new_store() {
    // The host's store serves all users.
    if Path::new(flakeid::HOST_FILE).exists() {
        return;
    }
    let Ok(url) = flakeid::default_store_url() else { return };
    let file = Location::parse(&url).ok().and_then(|location| location.file());
    if file.is_some_and(|file| !file.exists()) {
        terminal::note(&format!(
            "flakeid: creates {url} for the programs of this user. Other users, even root, have other \
             stores, so their IDs may be equal: let such programs share a broker or a server"
        ));
    }
}

/// Whether to lease from the embedded store if no store is specified. A layout without a node field does not require a
/// lease, unless a namespace is specified.
fn leases_from_the_embedded_store(
    args: &LeaseArgs,
    identity: &Identity,
    layout: &Layout,
) -> Result<bool, Failure> {
    match identity {
        Identity::Node(_) if args.store.has_namespace() => Err(Error::invalid_option(
            "namespace",
            "--namespace requires --store when a node is given: without a store, nothing is leased",
        )
        .into()),
        Identity::Node(_) => Ok(false),
        Identity::Any => Ok(layout.max_node() > 0 || args.store.has_namespace()),
        _ => Ok(true),
    }
}
