//! The links of Markdown documents. mdBook checks neither files nor headings.

use std::path::Path;

use flakeid_steps::{Failed, Outcome, files, root};

/// The folder of the guide's chapters.
pub(crate) const SOURCE: &str = "docs/src";

/// The page that explains IDs. `cargo xtask docs` puts it into the root of the built guide.
const PAGE: &str = "page.html";

/// The beginning of links to the API references, which another task builds. The check of the built guide checks these
/// links.
const REFERENCES: &str = "../api/";

/// Checks that each link in the document leads to a file, and to a heading of this file.
pub(crate) fn check(path: &Path, text: &str) -> Outcome {
    let failed =
        |target: &str| Err(Failed(format!("{}: the link to {target} is broken", path.display())));
    let is_file =
        |target: &&str| !target.starts_with("https://") && !target.starts_with(REFERENCES);
    for target in targets(text, "](", ')').filter(is_file) {
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let file = if file.is_empty() { path.to_owned() } else { path.with_file_name(file) };
        if !root().join(&file).exists() {
            return failed(target);
        }
        let is_document = file.extension().is_some_and(|extension| extension == "md");
        if is_document
            && !heading.is_empty()
            && !anchors(&files::text(&file)?).any(|it| it == heading)
        {
            return failed(target);
        }
    }
    let depth = path.strip_prefix(SOURCE).map_or(1, |chapter| chapter.components().count());
    let page = format!("{}{PAGE}", "../".repeat(depth - 1));
    match targets(text, "href=\"", '"').find(|target| *target != page) {
        Some(target) => failed(target),
        None => Ok(()),
    }
}

fn targets<'a>(text: &'a str, start: &'a str, end: char) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).filter_map(move |rest| Some(rest.split_once(end)?.0))
}

/// Returns the anchors that mdBook and GitHub give to the headings of a document.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings = text.split("```").step_by(2).flat_map(str::lines);
    headings.filter(|line| line.starts_with('#')).map(|line| {
        let heading = line.trim_start_matches('#').trim();
        let letters = heading.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
        letters.collect::<String>().to_lowercase()
    })
}
