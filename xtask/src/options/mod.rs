//! Lists of options in every language and in the documents, generated from `options.toml` by the definitions in
//! `xtask/options`.
//!
//! Such parts of files lie between two marks: a comment with `[options: HANDLE PART]`, perhaps with `except` or `only` and
//! the names of options, and a comment with `[/options]`. A language before the handle replaces that of
//! the file.

mod language;
mod table;
mod template;

use std::collections::{BTreeMap, BTreeSet};

use flakeid_steps::{Failed, Outcome, files};
use toml::Value;

use language::{LANGUAGES, Languages};
use table::HANDLES;
use template::{filled, wrapped};

/// The beginning of a mark.
const BEGIN: &str = "[options: ";

/// The end of a part.
const END: &str = "[/options]";

/// Returns the values of the initialisers in `flakeid.h`, by the names of the handles.
pub(crate) fn initialisers() -> Result<BTreeMap<&'static str, String>, Failed> {
    let languages = Languages::read()?;
    ["generator", "lease", "ring", "namespace"]
        .into_iter()
        .map(|handle| {
            let fields = generated(&languages, "c", &format!("{handle} fields"))?;
            let types =
                fields.lines().filter_map(|line| line.strip_prefix("pub ")?.split_once(": "));
            let zeros =
                types.map(|(_, kind)| if kind.starts_with(['u', 'i']) { "0" } else { "NULL" });
            // After struct_size and has.
            let values = zeros.fold("0".to_owned(), |values, zero| format!("{values}, {zero}"));
            Ok((handle, wrapped(&format!("¶¶ \\\n     ¶{values}¶"), 64)))
        })
        .collect()
}

/// Generates every part.
pub(crate) fn write() -> Outcome {
    changed(|path, text| {
        files::write(path, text)?;
        println!("wrote {path}");
        Ok(())
    })
}

/// Checks that every part agrees with the table.
pub(crate) fn check() -> Outcome {
    changed(|path, _| {
        let reason = format!("{path} differs from options.toml; generate it: cargo xtask options");
        Err(Failed(reason))
    })
}

/// Calls the function with the new text of each file that differs from the table.
fn changed(found: impl Fn(&str, &str) -> Outcome) -> Outcome {
    let languages = Languages::read()?;
    for (language, path) in languages.files() {
        let old = files::text(path)?;
        let new = with_parts(&old, |mark| generated(&languages, language, mark))
            .map_err(|Failed(reason)| Failed(format!("{path}: {reason}")))?;
        if new != old {
            found(path, &new)?;
        }
    }
    Ok(())
}

/// Returns the contents of a file with new parts.
fn with_parts(
    text: &str,
    generated: impl Fn(&str) -> Result<String, Failed>,
) -> Result<String, Failed> {
    let mut written = Vec::new();
    let mut lines = text.lines();
    let mut parts = 0;
    while let Some(line) = lines.next() {
        written.push(line.to_owned());
        let Some((before, mark)) = line.split_once(BEGIN) else { continue };
        let (mark, _) = mark.split_once(']').unwrap_or((mark, ""));
        let wrong = |reason| Failed(format!("{BEGIN}{mark}]: {reason}"));
        let part = generated(mark).map_err(|Failed(reason)| wrong(reason))?;
        let indent = &before[..before.len() - before.trim_start().len()];
        written.extend(part.lines().map(|line| format!("{indent}{line}").trim_end().to_owned()));
        let end = lines.find(|line| line.contains(END));
        written.push(end.ok_or_else(|| wrong(format!("there is no {END}")))?.to_owned());
        parts += 1;
    }
    if parts == 0 {
        return Err(Failed(format!("has no {BEGIN}…]")));
    }
    Ok(written.join("\n") + "\n")
}

/// Generates the part of a mark.
fn generated(languages: &Languages, language: &str, mark: &str) -> Result<String, Failed> {
    let mut words = mark.split_whitespace().peekable();
    let language = words.next_if(|word| LANGUAGES.contains(word)).unwrap_or(language);
    let (Some(handle), Some(part), choice @ (None | Some("except" | "only"))) =
        (words.next(), words.next(), words.next())
    else {
        return Err(Failed("expected [LANGUAGE] HANDLE PART [except|only NAME ...]".to_owned()));
    };
    if !HANDLES.contains(&handle) && handle != "all" {
        return Err(Failed(format!("there is no handle {handle}")));
    }
    let style = languages.style(language, part)?;
    let mut options = match style.setting("ordered") {
        Some(_) => languages.table.in_order(handle)?,
        None => languages.table.of(handle).collect(),
    };
    let names: Vec<&str> = words.collect();
    if let Some(name) =
        names.iter().find(|name| options.iter().all(|option| option.name() != **name))
    {
        return Err(Failed(format!("a {handle} has no {name}")));
    }
    if choice.is_some() {
        options.retain(|option| names.contains(&option.name()) == (choice == Some("only")));
    }
    if style.setting("sorted").is_some() {
        options.sort_by_key(|option| option.number("bit"));
    }
    if let Some(Value::Boolean(is_shared)) = style.setting("shared") {
        options.retain(|option| option.is_shared() == *is_shared);
    }
    let mut texts = Vec::new();
    for option in options {
        texts.push(style.word(option, "each", "")?);
    }
    if style.setting("renamed_only").is_some() {
        let lines: Vec<String> =
            texts.iter().flat_map(|text| text.lines().map(str::to_owned)).collect();
        let mut known = BTreeSet::new();
        // Each line has two names; the first option of a name decides.
        texts = lines;
        texts.retain(|line| {
            let mut names = line.split('"').skip(1).step_by(2).map(str::to_owned);
            let (name, spelled) = (names.next(), names.next());
            known.insert(name.clone()) && name != spelled
        });
    }
    texts.retain(|text| !text.is_empty());
    let all = texts.join(style.text("join"));
    let whole = match style.setting("whole") {
        Some(Value::Table(handles)) => {
            handles.get(handle).and_then(Value::as_str).unwrap_or("$all")
        }
        Some(Value::String(whole)) => whole,
        _ => "$all",
    };
    let whole = filled(whole, &|_| Ok(all.clone()))?;
    Ok(wrapped(&whole, style.width()))
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn generated_section_is_written_between_its_markers() {
        let text = "a\n  // [options: ring fields except max_age_ms]\n  old\n  // [/options]\nb\n";
        let written = with_parts(text, |mark| Ok(format!("{mark}\n\nnew")));
        let wanted = text.replace("  old\n", "  ring fields except max_age_ms\n\n  new\n");
        assert_eq!(written.map_err(|Failed(reason)| reason), Ok(wanted));
    }

    #[test]
    fn invalid_section_markers_are_rejected() {
        let languages = Languages::read().map_err(|Failed(reason)| reason);
        let languages = languages.as_ref().expect("the table is correct");
        for mark in
            ["ring", "ring fields of", "king fields", "ring field", "ring fields except node"]
        {
            assert!(generated(languages, "node", mark).is_err(), "{mark}");
        }
        assert!(generated(languages, "node", "ring fields except max_age_ms").is_ok());
        for text in ["// [options: ring fields]\n", "x\n"] {
            assert!(with_parts(text, |_| Ok(String::new())).is_err(), "{text}");
        }
    }
}
