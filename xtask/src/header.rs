//! `include/flakeid.h`, generated from the sources of the C library.

use cbindgen::{Builder, Config};
use flakeid_steps::{Failed, Outcome, files, root};

use crate::options;

const PLACE: &str = "include/flakeid.h";

/// The modules, in an order that is useful to readers.
const SOURCES: &str = "version status spelling last_error options flags config clock generator local cached event lease \
                       interrupt namespace parts layout text public_ids exposed";

/// Writes the header.
pub(crate) fn write() -> Outcome {
    files::write(PLACE, generated()?)
}

/// Checks that the header matches the sources.
pub(crate) fn check() -> Outcome {
    if files::bytes(PLACE).ok() != Some(generated()?) {
        return Err(Failed(format!(
            "{PLACE} does not match bindings/c; generate it: cargo xtask header"
        )));
    }
    Ok(())
}

fn generated() -> Result<Vec<u8>, Failed> {
    let library = root().join("bindings/c");
    let mut config = Config::from_file(library.join("cbindgen.toml")).map_err(Failed)?;
    // The version of the workspace is also the version of the library.
    let version = env!("CARGO_PKG_VERSION");
    let initialisers = options::initialisers()?;
    config.after_includes = config.after_includes.map(|text| {
        let text = text.replace("@VERSION@", version);
        initialisers
            .iter()
            .fold(text, |text, (handle, values)| text.replace(&format!("@{handle}@"), values))
    });
    let builder =
        SOURCES.split_whitespace().fold(Builder::new().with_config(config), |builder, name| {
            builder.with_src(library.join("src").join(name).with_extension("rs"))
        });
    let bindings = builder.generate().map_err(|error| Failed(format!("cbindgen: {error}")))?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    Ok(header)
}
