//! The benchmark of the Go module and its rivals.

use flakeid_steps::{Failed, Step, packages, root};

use crate::c;
use crate::platform::Target;

const NEEDED: [(&str, &str); 3] =
    [("gcc", "gcc"), ("go", "golang-go"), ("pkg-config", "pkg-config")];

/// Returns the compiled benchmark. Its rivals come from the module proxy.
pub(crate) fn bench() -> Result<Step, Failed> {
    packages::ensure(&NEEDED)?;
    let library = c::installed(&Target::new(None)?, "target/go/bench")?.join("lib");
    let program = root().join("target/go/bench/program").display().to_string();
    // The library is linked statically, as the guide describes, so that calls do not go through a
    // procedure linkage table.
    Step::new("go", &["build", "-tags", "flakeid_static", "-o", &program, "."])
        .within("benches/go")
        .env("PKG_CONFIG_PATH", library.join("pkgconfig"))
        // Go's build cache ignores the output of pkg-config, so it would link the library of
        // another checkout.
        .env("CGO_LDFLAGS", format!("-L{}", library.display()))
        .run()?;
    Ok(Step::new(&program, &[]))
}
