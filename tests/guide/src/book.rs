//! The Markdown of the guide: its chapters, their code blocks, and their links.

use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Outcome, Step, files, root};

use crate::links::{self, SOURCE};
use crate::{assistants, pictures};

const VERSION: &str = "0.5.4";
const TOOLS: &str = "target/tools/mdbook";

/// The languages of programs. Their code blocks must quote files of `examples`, and must never be
/// copies.
const PROGRAMS: [&str; 16] = [
    "rust",
    "python",
    "js",
    "jsx",
    "c",
    "cpp",
    "go",
    "java",
    "php",
    "yaml",
    "xml",
    "json",
    "ini",
    "cmake",
    "properties",
    "dockerfile",
];

/// The languages of programs and of other code. Their code blocks may quote files.
const QUOTABLE: [&str; 3] = ["sql", "text", "toml"];

/// The documents outside the guide that link to its pages.
const OTHER_DOCUMENTS: [&str; 4] =
    ["README.md", "DESIGN.md", "CONTRIBUTING.md", "tests/vectors/README.md"];

/// The mark of a block that is not run, followed by the reason.
pub(crate) const NOT_RUN: &str = "not-run=";

pub(crate) struct Chapter {
    /// The path, relative to the root of the checkout.
    pub(crate) path: PathBuf,
    pub(crate) blocks: Vec<Block>,
}

pub(crate) struct Block {
    /// The string after the opening fence.
    pub(crate) info: String,
    pub(crate) code: String,
}

impl Block {
    /// Returns the path in `{{#include path}}`, relative to the chapter's folder, if the block
    /// contains nothing else.
    pub(crate) fn quoted(&self) -> Option<&str> {
        self.code.trim().strip_prefix("{{#include ")?.strip_suffix("}}")
    }
}

/// Reads and checks every chapter: programs are quoted, SQL matches the documentation of the
/// stores, links lead to files, and the table of contents is complete.
pub(crate) fn read() -> Result<Vec<Chapter>, Failed> {
    for path in OTHER_DOCUMENTS {
        links::check(Path::new(path), &files::text(path)?)?;
    }
    let summary = files::text(format!("{SOURCE}/SUMMARY.md"))?;
    let mut chapters = Vec::new();
    let mut texts = String::new();
    for path in files::below(Path::new(SOURCE), "md")? {
        let text = files::text(&path)?;
        let name = files::shown(path.strip_prefix(SOURCE).unwrap_or(&path))?;
        if name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
            return Err(Failed(format!("{SOURCE}/SUMMARY.md does not list {name}")));
        }
        links::check(&path, &text)?;
        texts += &text;
        let chapter = Chapter { blocks: blocks(&path, &text)?, path };
        for block in &chapter.blocks {
            check(&chapter, block)?;
        }
        chapters.push(chapter);
    }
    pictures::check(&texts)?;
    assistants::check()?;
    Ok(chapters)
}

fn blocks(path: &Path, text: &str) -> Result<Vec<Block>, Failed> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(info), None) => {
                open = Some(Block { info: info.to_owned(), code: String::new() });
            }
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.code += line;
                block.code.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    if open.is_some() {
        return Err(Failed(format!("{}: a code block is not closed", path.display())));
    }
    Ok(blocks)
}

fn check(chapter: &Chapter, block: &Block) -> Outcome {
    let Chapter { path, .. } = chapter;
    let failed = |text: &str| Err(Failed(format!("{}: {text}", path.display())));
    let language = block.info.split(',').next().unwrap_or_default();
    match language {
        "sh" => Ok(()),
        "text" | "toml" if block.quoted().is_none() => Ok(()),
        "sql" if block.quoted().is_none() => {
            let stem = path.file_stem().unwrap_or_default();
            let store = if stem == "postgresql" { "postgres" } else { "mysql" };
            let source = format!("crates/flakeid-stores/src/{store}/mod.rs");
            let documented = files::text(&source)?;
            match block.code.lines().find(|line| !documented.contains(line)) {
                Some(line) => failed(&format!("{source} does not contain: {line}")),
                None => Ok(()),
            }
        }
        _ if PROGRAMS.contains(&language) || QUOTABLE.contains(&language) => {
            let Some(quoted) = block.quoted() else {
                return failed(
                    "a program is not a quoted file; put it into examples/ and quote it",
                );
            };
            let file = path.with_file_name(quoted);
            if root().join(&file).is_file() {
                return Ok(());
            }
            failed(&format!("quotes {}, which does not exist", file.display()))
        }
        _ => failed(&format!("a code block has the language {language:?}, which is not checked")),
    }
}

/// Builds the book. Warnings count as failures.
pub(crate) fn build() -> Outcome {
    let mdbook = files::shown(&root().join(TOOLS).join("bin/mdbook"))?;
    let installed = Step::new(&mdbook, &["--version"]).output().ok();
    if installed.is_none_or(|version| version.trim() != format!("mdbook v{VERSION}")) {
        Step::cargo(&["install", "mdbook", "--version", VERSION, "--locked", "--force"])
            .args(&["--no-default-features", "--features", "search", "--root", TOOLS])
            .run()?;
    }
    let messages = Step::new(&mdbook, &["build", "docs"]).error_output()?;
    if ["WARN", "ERROR"].iter().any(|level| messages.contains(level)) {
        return Err(Failed(format!("mdbook build docs has warnings:\n{messages}")));
    }
    Ok(())
}
