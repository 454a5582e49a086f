//! What makes the IDs of `flakeid next`.
//!
//! Which node: from the flags, else from the environment, else any that the store has free. A store
//! that is named, by flag or environment, always leases it, so that no run is beside those that do.

use flakeid_core::{Error, Field, Generator, Id, Layout};
use flakeid_lease::protocol::Identity;
use flakeid_lease::{LeaseBuilder, LeasedGenerator};

use crate::args::environment;
use crate::args::node;
use crate::cli::NextArgs;
use crate::failure::Failure;
use crate::format::number;
use crate::store;

pub(crate) enum Maker {
    /// Its node was given, and nobody checks that it is nobody else's.
    Fixed(Box<Generator>),
    /// Its node is leased.
    Leased(Box<LeasedGenerator>),
}

impl Maker {
    pub(crate) fn new(args: &NextArgs, layout: Layout) -> Result<Self, Failure> {
        let sequence_start = sequence_start(args, &layout)?;
        let identity = identity(args, &layout)?;
        let location = args.store.named()?;
        if location.is_none() && !leases_from_the_embedded_store(args, &identity, &layout)? {
            let mut builder = Generator::builder(layout);
            if let Identity::Node(node) = identity {
                builder = builder.node(node);
            }
            if let Some(bits) = sequence_start {
                builder = builder.sequence_start(bits);
            }
            return Ok(Self::Fixed(Box::new(builder.build()?)));
        }
        let mut builder = match location {
            Some(location) => LeasedGenerator::builder(location.as_url(), layout)?,
            None => LeaseBuilder::auto(layout).map_err(|error| {
                let ways = format!(
                    "give --store URL or --node N, or set {}=URL or {}=N",
                    store::STORE,
                    node::NODE
                );
                Failure::hinted(error, ways)
            })?,
        };
        builder = builder.namespace(&args.store.namespace()?).identity(identity);
        if let Some(bits) = sequence_start {
            builder = builder.sequence_start(bits);
        }
        Ok(Self::Leased(Box::new(builder.open()?)))
    }

    /// As many IDs as there are without waiting.
    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        match self {
            Self::Fixed(generator) => generator.try_fill(ids),
            Self::Leased(generator) => generator.try_fill(ids),
        }
    }

    pub(crate) fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        match self {
            Self::Fixed(generator) => generator.fill(ids),
            Self::Leased(generator) => generator.fill(ids),
        }
    }
}

fn identity(args: &NextArgs, layout: &Layout) -> Result<Identity, Failure> {
    let Some(name) = &args.name else {
        let node = args.node.resolve(layout, environment::variable)?;
        return Ok(node.map_or(Identity::Any, Identity::Node));
    };
    if args.node.is_silent() {
        return Ok(Identity::Name(name.clone()));
    }
    Err(Error::invalid_option("name", "give either --name or a node, not both").into())
}

/// Where no store is named. A layout without nodes has nothing to lease unless somebody asks for it.
fn leases_from_the_embedded_store(
    args: &NextArgs,
    identity: &Identity,
    layout: &Layout,
) -> Result<bool, Failure> {
    match identity {
        Identity::Node(_) if args.store.has_namespace() => Err(Error::invalid_option(
            "namespace",
            "--namespace goes with --store where a node is given: without a store nothing is leased",
        )
        .into()),
        Identity::Node(_) => Ok(false),
        Identity::Name(_) => Ok(true),
        Identity::Any => Ok(layout.max_node() > 0 || args.store.has_namespace()),
    }
}

fn sequence_start(args: &NextArgs, layout: &Layout) -> Result<Option<u32>, Error> {
    let Some(text) = &args.sequence_start else { return Ok(None) };
    let most =
        layout.fields().find(|span| span.field == Field::Sequence).map_or(0, |span| span.width);
    number::parse("sequence_start", text, 0, u64::from(most)).map(|bits| Some(bits as u32))
}
