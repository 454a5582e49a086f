//! The pictures of the guide: SVG files that adapt to light and dark themes, with descriptions for screen readers.

use std::path::Path;

use flakeid_steps::{Failed, Outcome, files};

use crate::links::SOURCE;

/// The parts of an SVG file that screen readers and themes need.
const PARTS: [&str; 6] = [
    "role=\"img\"",
    "aria-labelledby=\"title desc\"",
    "<title id=\"title\">",
    "<desc id=\"desc\">",
    "@media(prefers-color-scheme:dark)",
    // The own background keeps a picture legible if a browser shows it in the other scheme than the page.
    "class=\"back\"",
];

/// Checks the files in `docs/src/pictures`. `chapters` contains the text of all chapters.
pub(crate) fn check(chapters: &str) -> Outcome {
    let mut style = None;
    for path in files::entries(Path::new(SOURCE).join("pictures"))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |reason: &str| Err(Failed(format!("{SOURCE}/pictures/{name}: {reason}")));
        let picture = files::text(Path::new(SOURCE).join("pictures").join(&name))?;
        if let Some(part) = PARTS.iter().find(|part| !picture.contains(**part)) {
            return failed(&format!("lacks {part}"));
        }
        let found = between(&picture, "<style>", "</style>").map(str::to_owned);
        if found.is_none() || *style.get_or_insert_with(|| found.clone()) != found {
            return failed("the style differs from that of the other pictures");
        }
        let Some(title) = between(&picture, "<title id=\"title\">", "</title>") else {
            return failed("the title is not closed");
        };
        let Some((before, _)) = chapters.split_once(&format!("../pictures/{name})")) else {
            return failed("no chapter shows the picture");
        };
        let alternative = before.rsplit("![").next().unwrap_or_default();
        if !alternative.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(title) {
            return failed("the alternative text in the chapter does not begin with the title");
        }
    }
    Ok(())
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}
