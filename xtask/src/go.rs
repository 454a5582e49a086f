//! What measures the Go module beside its rivals.

use flakeid_steps::{Failed, Step, packages, root};

use crate::c;
use crate::platform::Target;

const NEEDED: [(&str, &str); 3] =
    [("gcc", "gcc"), ("go", "golang-go"), ("pkg-config", "pkg-config")];

/// The benchmark, compiled. Its rivals come from the module proxy.
pub(crate) fn bench() -> Result<Step, Failed> {
    packages::ensure(&NEEDED)?;
    let library = c::installed(&Target::new(None)?, "target/go/bench")?.join("lib");
    let program = root().join("target/go/bench/program").display().to_string();
    // Linked into the program, as the guide describes: what is measured has no detour through a table of addresses.
    Step::new("go", &["build", "-tags", "flakeid_static", "-o", &program, "."])
        .within("benches/go")
        .env("PKG_CONFIG_PATH", library.join("pkgconfig"))
        // Go's cache does not know what pkg-config said, and would link what another checkout built.
        .env("CGO_LDFLAGS", format!("-L{}", library.display()))
        .run()?;
    Ok(Step::new(&program, &[]))
}
