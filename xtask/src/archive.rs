//! The static libraries of the C archive, which contain one object each.
//!
//! Rust writes hundreds of objects to a static library, with the debug information of the standard
//! library, and every symbol of every dependency is global. For Linux, the linker joins the objects
//! that the exported functions need, without unused sections. All symbols except the exported
//! functions become local, so that a program may also link other libraries in Rust and its own
//! `SQLite`.

use std::path::Path;

use flakeid_linking::declared;
use flakeid_steps::{Failed, Outcome, Step, files, packages};

use crate::platform::Target;

/// The linker's script after the list of the exported functions. It merges the sections of single
/// functions, whose headers and names would take a quarter of the library. With `KEEP`, the linker
/// keeps the unwind tables of the functions that remain. A panic could not unwind without them.
const SECTIONS: &str = "
SECTIONS {
    .text 0 : { *(.text .text.*) }
    .rodata 0 : { *(.rodata .rodata.*) }
    .gcc_except_table 0 : { *(.gcc_except_table .gcc_except_table.*) }
    .eh_frame 0 : { KEEP(*(.eh_frame)) }
    .tdata 0 : { *(.tdata .tdata.*) }
    .tbss 0 : { *(.tbss .tbss.*) }
    .init_array 0 : { *(.init_array .init_array.*) }
    .data.rel.ro 0 : { *(.data.rel.ro .data.rel.ro.*) }
    .data 0 : { *(.data .data.*) }
    .bss 0 : { *(.bss .bss.* COMMON) }
    /DISCARD/ : { *(.llvmbc .llvmcmd .llvm_addrsig .comment) }
}
";

/// Writes a reduced copy of a static library that Rust built for this target.
pub(crate) fn reduce(target: &Target, from: &Path, to: &Path) -> Outcome {
    if target.platform.system == "linux" {
        return join(target, from, to);
    }
    files::copy(from, to)?;
    let sysroot = Step::new("rustc", &["--print", "sysroot"]).output()?;
    let host = Step::new("rustc", &["--print", "host-tuple"]).output()?;
    let lib = Path::new(sysroot.trim()).join("lib");
    let objcopy = lib.join("rustlib").join(host.trim()).join("bin/rust-objcopy");
    Step::new(&files::shown(&objcopy)?, &["--strip-debug", &files::shown(to)?])
        .env("LD_LIBRARY_PATH", &lib)
        .env("DYLD_LIBRARY_PATH", &lib)
        .run()
}

/// Joins the objects of a static library for Linux.
fn join(target: &Target, from: &Path, to: &Path) -> Outcome {
    let architecture = match target.platform.processor {
        "x64" => "x86-64",
        "arm64" => "aarch64",
        other => return Err(Failed(format!("the linker for {other} is unknown"))),
    };
    let tool = |name| format!("{}-linux-gnu-{name}", architecture.replace('-', "_"));
    packages::ensure(&[(&tool("ld"), &format!("binutils-{architecture}-linux-gnu"))])?;
    let work = to.with_extension("parts");
    files::empty(&work)?;
    let file = |name| files::shown(&work.join(name));
    let (script, exported) = (file("script.ld")?, file("exported")?);
    let (joined, object) = (file("joined.o")?, file("flakeid.o")?);
    let header = files::text("include/flakeid.h")?;
    let functions = declared(&header);
    files::write(&script, format!("EXTERN({})\n{SECTIONS}", functions.join(" ")))?;
    files::write(&exported, functions.join("\n"))?;
    Step::new(&tool("ld"), &["-r", "--gc-sections", "--force-group-allocation", "-T", &script])
        .args(&["-o", &joined, &files::shown(from)?])
        .args(&unwinder(target)?.iter().map(String::as_str).collect::<Vec<_>>())
        .run()?;
    // Two runs, because names of debug information refer to symbols that the second run removes.
    Step::new(&tool("objcopy"), &["--strip-debug", &joined]).run()?;
    let keep = format!("--keep-global-symbols={exported}");
    Step::new(&tool("objcopy"), &["--strip-unneeded", &keep, &joined, &object]).run()?;
    let library = files::shown(to)?;
    Step::new(&tool("ar"), &["rcsD", &library, &object]).run()?;
    files::remove(&work)
}

/// Returns the unwinder to include. With musl, the library contains Rust's unwinder, because the
/// `libgcc_eh` of a distribution with glibc requires glibc.
fn unwinder(target: &Target) -> Result<Option<String>, Failed> {
    if target.platform.abi != Some("musl") {
        return Ok(None);
    }
    let sysroot = Step::new("rustc", &["--print", "sysroot"]).output()?;
    let triple = target.platform.triple;
    Ok(Some(format!("{}/lib/rustlib/{triple}/lib/self-contained/libunwind.a", sysroot.trim())))
}
