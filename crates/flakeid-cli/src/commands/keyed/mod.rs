//! `flakeid keygen`, which generates keys, and `flakeid seal` and `flakeid open`, which convert IDs
//! to and from their public form.

mod keygen;
mod keyring;
mod open;
mod seal;

pub(crate) use keygen::KeygenArgs;
pub(crate) use open::OpenArgs;
pub(crate) use seal::SealArgs;

pub(crate) use keygen::run as keygen;
pub(crate) use open::run as open;
pub(crate) use seal::run as seal;

use clap::Args;
use flakeid_core::PublicIds;

use crate::args::layout_arg::LayoutArg;
use crate::failure::Failure;
use keyring::KeyFile;

/// The arguments that specify the keys and the domain of public IDs.
#[derive(Args)]
struct DomainArgs {
    #[command(flatten)]
    key_file: KeyFile,

    /// Kind of object that the IDs identify, such as user; `seal` and `open` must use the same
    /// domain
    #[arg(long, value_name = "NAME")]
    domain: String,

    /// Prefix of public IDs, such as usr; an underscore follows the prefix
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,

    #[command(flatten)]
    layout: LayoutArg,
}

impl DomainArgs {
    fn public_ids(&self) -> Result<PublicIds, Failure> {
        let layout = self.layout.resolve()?;
        let ids = self.key_file.read()?.domain(&self.domain, layout)?;
        Ok(match &self.prefix {
            Some(prefix) => ids.with_prefix(prefix)?,
            None => ids,
        })
    }
}
