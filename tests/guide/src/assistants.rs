//! `llms.txt`: the list of the guide's pages for programs that write code.

use std::path::Path;

use flakeid_steps::{Failed, Outcome, files, root};

use crate::links::SOURCE;

const LIST: &str = "llms.txt";

/// Checks that `llms.txt` has the form of <https://llmstxt.org>, and that its links lead to chapters.
pub(crate) fn check() -> Outcome {
    let path = format!("{SOURCE}/{LIST}");
    let text = files::text(&path)?;
    let failed = |reason: String| Err(Failed(format!("{path}: {reason}")));
    let mut lines = text.lines();
    let title = lines.next().unwrap_or_default();
    if !title.starts_with("# ") || !lines.any(|line| line.starts_with("> ")) {
        return failed("must begin with a heading and a summary in a quotation".to_owned());
    }
    for rest in text.split("](").skip(1) {
        let target = rest.split(')').next().unwrap_or_default();
        let page = Path::new(SOURCE).join(target);
        let is_page = page.extension().is_some_and(|extension| extension == "html");
        if !is_page || !root().join(page.with_extension("md")).is_file() {
            return failed(format!("the link to {target} is broken"));
        }
    }
    Ok(())
}
