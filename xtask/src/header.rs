//! `include/flakeid.h`, made from the sources of the C library.

use cbindgen::{Builder, Config};
use flakeid_steps::{Failed, Outcome, files, root};

const PLACE: &str = "include/flakeid.h";

/// In the order in which a reader wants to meet them.
const SOURCES: &str = "version status last_error config clock generator local cached event lease \
                       parts layout text public_ids";

/// Writes the header anew.
pub(crate) fn write() -> Outcome {
    files::write(PLACE, generated()?)
}

/// Fails if the header is not what the sources make.
pub(crate) fn check() -> Outcome {
    if files::bytes(PLACE).ok() != Some(generated()?) {
        return Err(Failed(format!(
            "{PLACE} is not what bindings/c makes; write it anew: cargo xtask header"
        )));
    }
    Ok(())
}

fn generated() -> Result<Vec<u8>, Failed> {
    let library = root().join("bindings/c");
    let mut config = Config::from_file(library.join("cbindgen.toml")).map_err(Failed)?;
    // That of the workspace, and so of the library.
    let version = env!("CARGO_PKG_VERSION");
    config.after_includes = config.after_includes.map(|text| text.replace("@VERSION@", version));
    let builder =
        SOURCES.split_whitespace().fold(Builder::new().with_config(config), |builder, name| {
            builder.with_src(library.join("src").join(name).with_extension("rs"))
        });
    let bindings = builder.generate().map_err(|error| Failed(format!("cbindgen: {error}")))?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    Ok(header)
}
