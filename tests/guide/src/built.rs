//! The links of the built guide, with the API references.

use std::path::{Component, Path};

use flakeid_steps::{Failed, Outcome, files, root};

/// The folder of the built guide.
const BOOK: &str = "target/docs/book";

/// The parts of links that rustdoc writes although their targets do not exist: `dispatcher` in the documentation of
/// blanket implementations in `tracing`, and scripts with the implementations in other crates.
const WITHOUT_TARGET: [&str; 2] = ["dispatcher", "trait.impl/"];

/// Checks that all relative links in the built pages lead to files.
pub(crate) fn check() -> Outcome {
    let mut broken = Vec::new();
    let mut links = 0;
    let pages = files::below(Path::new(BOOK), "html")?;
    for page in &pages {
        let text = files::text(page)?;
        for target in targets(&text) {
            links += 1;
            if !exists(page, &target) && !WITHOUT_TARGET.iter().any(|part| target.contains(part)) {
                broken.push(format!("{}: the link to {target} is broken", page.display()));
            }
        }
    }
    if !broken.is_empty() {
        return Err(Failed(broken.join("\n")));
    }
    println!("{BOOK}: {links} links on {} pages lead to files", pages.len());
    Ok(())
}

/// Returns the targets of a page's links, images, scripts and styles that do not lead to other hosts.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in [" href=\"", " src=\""] {
        for rest in text.split(start).skip(1) {
            let target = rest.split('"').next().unwrap_or_default();
            let target = target.split(['#', '?']).next().unwrap_or_default().replace("&amp;", "&");
            let is_elsewhere = target.starts_with("//")
                || target.split_once(':').is_some_and(|(scheme, _)| {
                    scheme.bytes().all(|letter| letter.is_ascii_alphanumeric())
                });
            if !target.is_empty() && !is_elsewhere {
                found.push(target);
            }
        }
    }
    found
}

fn exists(page: &Path, target: &str) -> bool {
    let target = decoded(target);
    let path = match target.strip_prefix('/') {
        Some(absolute) => Path::new(BOOK).join(absolute),
        None => page.with_file_name("").join(&target),
    };
    let mut plain = root();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::Normal(name) => plain.push(name),
            _ => {}
        }
    }
    plain.is_file() || plain.join("index.html").is_file()
}

/// Replaces `%20` and other encoded ASCII characters.
fn decoded(target: &str) -> String {
    let mut pieces = target.split('%');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(letter) if letter.is_ascii() => {
                text.push(letter.into());
                text.push_str(&piece[2..]);
            }
            _ => text = text + "%" + piece,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{decoded, targets};

    #[test]
    fn links_to_other_hosts_are_omitted() {
        let page =
            "<a href=\"https://a\"> <a href=\"b.html#c\"> <a href=\"#d\"> <img src=\"e%20f.svg\">";
        assert_eq!(targets(page), ["b.html", "e%20f.svg"]);
    }

    #[test]
    fn encoded_characters_are_decoded() {
        assert_eq!(decoded("e%20f%zz.svg"), "e f%zz.svg");
    }
}
