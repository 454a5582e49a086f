//! Templates: text with words, sections that depend on them, and blocks that are wrapped.
//!
//! `$word` or `${word}` is a word of an option, perhaps with filters: `$option|upper`. `$?word` writes nothing, and only
//! decides about its section. `[[A||B]]` is A unless one of its words is empty, and then B or, if a word of B is empty,
//! nothing. `¶first¶next¶text¶` wraps the text: `first` begins its first line, and `next` ends each of its lines and
//! begins the next one.

use flakeid_steps::Failed;

/// The number of letters in a line of wrapped text, unless a language has another one.
pub(super) const WIDTH: usize = 96;

/// A function that returns the value of a word.
type Words<'a> = dyn Fn(&str) -> Result<String, Failed> + 'a;

/// Fills in the words and sections of a template.
pub(super) fn filled(template: &str, words: &Words<'_>) -> Result<String, Failed> {
    Ok(section(&mut &*template, words)?.0)
}

/// Reads a section up to its end, and returns its text and whether all of its words have a value.
fn section(rest: &mut &str, words: &Words<'_>) -> Result<(String, bool), Failed> {
    let (mut text, mut is_complete) = (String::new(), true);
    while let Some(at) = rest.find(['$', '[', ']', '|']) {
        text.push_str(&rest[..at]);
        *rest = &rest[at..];
        if rest.starts_with("||") || rest.starts_with("]]") {
            break;
        }
        if let Some(inside) = rest.strip_prefix("[[") {
            *rest = inside;
            let (mut chosen, mut has_chosen) = section(rest, words)?;
            while let Some(other) = rest.strip_prefix("||") {
                *rest = other;
                let (text, is_complete) = section(rest, words)?;
                if !has_chosen {
                    (chosen, has_chosen) = (text, is_complete);
                }
            }
            *rest = rest.strip_prefix("]]").ok_or_else(|| Failed(format!("no ]] after {text}")))?;
            text.push_str(if has_chosen { &chosen } else { "" });
        } else if let Some(after) = rest.strip_prefix('$') {
            let (is_condition, after) =
                after.strip_prefix('?').map_or((false, after), |after| (true, after));
            *rest = after;
            let value = word(rest, words)?;
            is_complete &= !value.is_empty();
            text.push_str(if is_condition { "" } else { &value });
        } else {
            text.push_str(&rest[..1]);
            *rest = &rest[1..];
        }
    }
    if !rest.starts_with(['|', ']']) {
        text.push_str(rest);
        *rest = "";
    }
    Ok((text, is_complete))
}

/// Reads a word with its filters, and returns its value.
fn word(rest: &mut &str, words: &Words<'_>) -> Result<String, Failed> {
    let (spec, after) = match rest.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
        Some(parts) => parts,
        None => rest.split_at(end_of_word(rest)),
    };
    *rest = after;
    let mut filters = spec.split('|');
    let value = words(filters.next().unwrap_or_default())?;
    filters.try_fold(value, |value, filter| {
        Ok(match filter {
            "camel" => camel_case(&value),
            "pascal" => capitalised(&camel_case(&value)),
            "kebab" => value.replace('_', "-"),
            "snake" => value.replace('-', "_"),
            "upper" => value.replace('-', "_").to_uppercase(),
            "lower" => first_letter(&value, char::to_lowercase),
            "unended" => value.trim_end_matches('.').to_owned(),
            other => return Err(Failed(format!("there is no filter {other}"))),
        })
    })
}

/// Returns the length of a word with its filters.
fn end_of_word(rest: &str) -> usize {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
    match rest[end..].strip_prefix('|') {
        Some(filter) if filter.starts_with(is_letter) => end + 1 + end_of_word(filter),
        _ => end,
    }
}

fn camel_case(name: &str) -> String {
    let mut words = name.split(['_', '-']);
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalised(word))
}

fn capitalised(word: &str) -> String {
    first_letter(word, char::to_uppercase)
}

fn first_letter<I: Iterator<Item = char>>(text: &str, change: fn(char) -> I) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(change).chain(letters).collect()
}

/// Wraps the blocks between the marks.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let mut pieces = text.split('¶');
    let mut written = pieces.next().unwrap_or_default().to_owned();
    while let (Some(first), Some(next), Some(text)) = (pieces.next(), pieces.next(), pieces.next())
    {
        written.push_str(&block(first, next, text, width));
        written.push_str(pieces.next().unwrap_or_default());
    }
    written
}

fn block(first: &str, next: &str, text: &str, width: usize) -> String {
    // A comment of several lines begins and ends with a line of its own.
    let is_long = first.chars().count() + text.chars().count() > width;
    let (first, text, end) = match text.strip_suffix(" */").filter(|_| first == "/** " && is_long) {
        Some(inside) => ("/**\n * ", inside, "\n */"),
        None => (first, text, ""),
    };
    let mut written = first.to_owned();
    let mut room = 0;
    for (n, word) in text.split_whitespace().enumerate() {
        let gap = match word.chars().count() {
            letters if n > 0 && letters + 1 > room => next,
            _ if n > 0 => " ",
            _ => "",
        };
        written = written + gap + word;
        let line = written.rsplit('\n').next().unwrap_or_default();
        room = width.saturating_sub(line.chars().count());
    }
    written + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(template: &str) -> String {
        let words = |name: &str| match name {
            "option" => Ok("max_wait".to_owned()),
            "more" => Ok("More.".to_owned()),
            "none" => Ok(String::new()),
            _ => Err(Failed(name.to_owned())),
        };
        filled(template, &words).unwrap_or_else(|Failed(reason)| format!("error: {reason}"))
    }

    #[test]
    fn template_replaces_placeholders_and_applies_filters() {
        assert_eq!(
            fill("a $option, ${option}_x: $option|camel|lower $more|unended|"),
            "a max_wait, max_wait_x: maxWait More|"
        );
        assert_eq!(fill("With$option|pascal(x[0])"), "WithMaxWait(x[0])");
        assert_eq!(fill("$other"), "error: other");
        assert_eq!(fill("$more|loud"), "error: there is no filter loud");
    }

    #[test]
    fn template_omits_sections_whose_placeholder_is_empty() {
        assert_eq!(fill("a[[ b $none]][[ c $more]]."), "a c More..");
        assert_eq!(fill("[[$?none x||[[$none||]]$option]]"), "max_wait");
        assert_eq!(fill("[[$?more||$other]]"), "error: other");
        assert_eq!(fill("[[$more"), "error: no ]] after ");
    }

    #[test]
    fn wrapping_breaks_lines_between_words() {
        assert_eq!(wrapped("a ¶// ¶\n// ¶one two three¶\nb", 10), "a // one two\n// three\nb");
        assert_eq!(wrapped("¶\"¶ \\\n   ¶one two¶\"", 5), "\"one \\\n   two\"");
        assert_eq!(wrapped("¶/** ¶\n * ¶one two */¶", 15), "/** one two */");
        assert_eq!(wrapped("¶/** ¶\n * ¶one two */¶", 7), "/**\n * one\n * two\n */");
    }
}
