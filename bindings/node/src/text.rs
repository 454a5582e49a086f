use flakeid_core::{Error, Id, TextForm};
use napi::bindgen_prelude::BigInt;
use napi::{Env, Result};
use napi_derive::napi;

use crate::environment::thrown;
use crate::number::bits;

/// An ID in a text form, told by its name.
#[napi(catch_unwind)]
pub(crate) fn encode_text(env: Env, form: String, id: BigInt) -> Result<String> {
    let form: TextForm = form.parse().map_err(|error: Error| thrown(&env, &error))?;
    Ok(Id::from_u64(bits(&id)).to_text(form).to_string())
}

/// The ID of a text in a form, told by its name.
#[napi(catch_unwind)]
pub(crate) fn decode_text(env: Env, form: String, text: String) -> Result<BigInt> {
    let id = form.parse::<TextForm>().and_then(|form| form.decode(&text));
    Ok(id.map_err(|error| thrown(&env, &error))?.to_u64().into())
}
