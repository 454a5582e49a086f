//! Public IDs: the encrypted form in which outsiders see IDs.

use flakeid_core::{Error, Id, Layout, PublicIds};
use napi::bindgen_prelude::{BigInt, External};
use napi::{Env, Result};
use napi_derive::napi;

use crate::environment::thrown;
use crate::options::{bits, signed};

/// Creates a converter between the IDs of one domain (one kind of object) and their public forms.
#[napi(catch_unwind)]
pub(crate) fn create_public_ids(
    env: Env,
    keyring: String,
    domain: String,
    descriptor: String,
    prefix: Option<String>,
    since: Option<BigInt>,
) -> Result<External<PublicIds>> {
    let made = descriptor.parse::<Layout>().and_then(|layout| {
        let since = since.as_ref().map(signed);
        PublicIds::from_text(&keyring, &domain, layout, prefix.as_deref(), since)
    });
    made.map(External::new).map_err(|error| thrown(&env, &error))
}

/// Returns the public form of an ID.
#[napi(catch_unwind)]
pub(crate) fn seal_id(env: Env, ids: &External<PublicIds>, id: BigInt) -> Result<String> {
    ids.seal(Id::from_u64(bits(&id))).map_err(|error| thrown(&env, &error))
}

/// Returns the public form of an ID as a 64-bit number.
#[napi(catch_unwind)]
pub(crate) fn seal_id_bits(env: Env, ids: &External<PublicIds>, id: BigInt) -> Result<BigInt> {
    let sealed = ids.seal_bits(Id::from_u64(bits(&id)));
    sealed.map(BigInt::from).map_err(|error| thrown(&env, &error))
}

/// Opens a public ID, and returns the original ID. If `now` is absent, the system clock provides
/// the current time.
#[napi(catch_unwind)]
pub(crate) fn open_public_id(
    env: Env,
    ids: &External<PublicIds>,
    text: String,
    now: Option<BigInt>,
) -> Result<BigInt> {
    let opened = match now {
        Some(now) => ids.open_at(&text, signed(&now)),
        None => ids.open(&text),
    };
    opened.map(|id| id.to_u64().into()).map_err(|error: Error| thrown(&env, &error))
}
