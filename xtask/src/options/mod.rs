//! Lists of options in every language and in the documents, generated from `options.toml`.
//!
//! Such parts of files lie between two marks: a comment with `[options: HANDLE PART]`, perhaps with `except` and the names
//! of options that are written by hand, and a comment with `[/options]`.

mod c;
mod documents;
mod go;
mod java;
mod node;
mod part;
mod python;
mod spelling;
mod table;
mod text;

use std::collections::BTreeMap;

use flakeid_steps::{Failed, Outcome, files};

use part::{BEGIN, Lines, Part};
use table::Table;

/// The end of a part.
const END: &str = "[/options]";

/// A function that generates the parts of a file.
type Writer = fn(&Table, &Part<'_>) -> Lines;

/// The files with such parts.
const FILES: &[(&str, Writer)] = &[
    ("bindings/python/src/cached.rs", python::binding),
    ("bindings/python/src/error.rs", python::binding),
    ("bindings/python/src/generator.rs", python::binding),
    ("bindings/python/src/lease.rs", python::binding),
    ("python/flakeid/_flakeid.pyi", python::stub),
    ("python/README.md", documents::of_python),
    ("bindings/node/src/options.rs", node::binding),
    ("bindings/wasm/src/failure.rs", node::binding),
    ("node/api.d.ts", node::types),
    ("node/index.d.ts", node::types),
    ("node/wasm/lease.d.ts", node::types),
    ("node/README.md", documents::of_node),
    ("docs/src/languages/wasm.md", documents::of_node),
    ("bindings/c/src/config.rs", c::binding),
    ("bindings/c/src/lease.rs", c::binding),
    ("bindings/c/src/cached.rs", c::binding),
    ("bindings/c/src/spelling.rs", c::binding),
    ("include/flakeid/options.hpp", c::wrapper),
    ("go/options.go", go::setters),
    ("java/src/main/java/io/github/flakeid/Options.java", java::setters),
    ("java/src/main/java/io/github/flakeid/GeneratorBuilder.java", java::setters),
    ("java/src/main/java/io/github/flakeid/LeaseBuilder.java", java::setters),
    ("java/src/main/java/io/github/flakeid/CachedGenerator.java", java::setters),
];

/// Returns the values of the initialisers in `flakeid.h`, by the names of the handles.
pub(crate) fn initialisers() -> Result<BTreeMap<&'static str, String>, Failed> {
    c::initialisers(&Table::read()?)
}

/// Generates every part.
pub(crate) fn write() -> Outcome {
    for (path, text) in generated()? {
        if files::text(path)? != text {
            files::write(path, text)?;
            println!("wrote {path}");
        }
    }
    Ok(())
}

/// Checks that every part agrees with the table.
pub(crate) fn check() -> Outcome {
    for (path, text) in generated()? {
        if files::text(path)? != text {
            return Err(Failed(format!(
                "{path} differs from options.toml; generate it: cargo xtask options"
            )));
        }
    }
    Ok(())
}

fn generated() -> Result<Vec<(&'static str, String)>, Failed> {
    let table = Table::read()?;
    let file = |(path, writer): &(&'static str, Writer)| {
        let text = with_parts(&files::text(path)?, |part| writer(&table, part))
            .map_err(|Failed(reason)| Failed(format!("{path}: {reason}")))?;
        Ok((*path, text))
    };
    FILES.iter().map(file).collect()
}

/// Returns the contents of a file with new parts.
fn with_parts(text: &str, writer: impl Fn(&Part<'_>) -> Lines) -> Result<String, Failed> {
    let mut written = String::new();
    let mut lines = text.lines();
    let mut parts = 0;
    while let Some(line) = lines.next() {
        written.push_str(line);
        written.push('\n');
        let Some((_, mark)) = line.split_once(BEGIN) else { continue };
        let (mark, _) = mark.split_once(']').unwrap_or((mark, ""));
        let indent: String = line.chars().take_while(|letter| letter.is_whitespace()).collect();
        for part in writer(&Part::read(mark)?)? {
            if !part.is_empty() {
                written.push_str(&indent);
                written.push_str(&part);
            }
            written.push('\n');
        }
        let end = lines.find(|line| line.contains(END));
        let end = end.ok_or_else(|| Failed(format!("{BEGIN}{mark}] has no {END}")))?;
        written.push_str(end);
        written.push('\n');
        parts += 1;
    }
    if parts == 0 {
        return Err(Failed(format!("has no {BEGIN}…]")));
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Handle;

    #[test]
    fn a_part_is_written_between_its_marks() {
        let text = "a\n  // [options: ring fields except max_age_ms]\n  old\n  // [/options]\nb\n";
        let written = with_parts(text, |part| {
            assert_eq!((part.handle, part.name), (Handle::Ring, "fields"));
            Ok(vec![part.except.join(","), String::new(), "new".to_owned()])
        });
        let wanted = text.replace("  old\n", "  max_age_ms\n\n  new\n");
        assert_eq!(written.map_err(|Failed(reason)| reason), Ok(wanted));
    }

    #[test]
    fn a_mark_without_an_end_is_refused() {
        for text in ["// [options: ring fields]\n", "// [options: ring]\n// [/options]\n", "x\n"] {
            assert!(with_parts(text, |_| Ok(Vec::new())).is_err(), "{text}");
        }
    }
}
