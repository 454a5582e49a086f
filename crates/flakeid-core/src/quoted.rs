//! Quotes user input in messages.

use alloc::borrow::Cow;
use alloc::format;
use core::fmt::{self, Write};

/// Returns the part of a user's string that is safe to show. A URL may contain a password, so only its scheme is shown.
#[must_use]
pub fn without_url(text: &str) -> Cow<'_, str> {
    match text.split_once("://") {
        Some((scheme, rest)) if !rest.is_empty() => format!("{scheme}://…").into(),
        _ => text.into(),
    }
}

/// A string that is displayed in double quotes, without its URL. Characters that would move the cursor or reorder the
/// line are escaped.
/// The standard format `{:?}` is not used, because its Unicode tables would take up 8 % of the WebAssembly module.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

/// A character that is displayed in single quotes, with the same escapes as [`Quoted`].
pub(crate) struct QuotedChar(pub(crate) char);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        without_url(self.0).chars().try_for_each(|letter| write_escaped(f, letter, '"'))?;
        f.write_char('"')
    }
}

impl fmt::Display for QuotedChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('\'')?;
        write_escaped(f, self.0, '\'')?;
        f.write_char('\'')
    }
}

/// Whether a character is not shown as itself: a control character, a joiner, a direction mark or a line separator. With
/// such a character, a name could look like another name.
#[must_use]
pub fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
        )
}

fn write_escaped(f: &mut fmt::Formatter<'_>, letter: char, quote: char) -> fmt::Result {
    match letter {
        '\\' => f.write_str("\\\\"),
        letter if is_invisible(letter) => write!(f, "\\u{{{:x}}}", u32::from(letter)),
        letter if letter == quote => {
            f.write_char('\\')?;
            f.write_char(letter)
        }
        letter => f.write_char(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn quoting_escapes_only_misleading_characters() {
        for (text, quoted) in [
            ("t41.n10", r#""t41.n10""#),
            ("día 日", r#""día 日""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("a\nb\u{1b}[0m", r#""a\u{a}b\u{1b}[0m""#),
            ("\u{202e}7", r#""\u{202e}7""#),
            ("redis://", r#""redis://""#),
            ("redis://:s3cret@db/0", r#""redis://…""#),
        ] {
            assert_eq!(Quoted(text).to_string(), quoted);
        }
        for (letter, quoted) in [('a', "'a'"), ('"', "'\"'"), ('\'', r"'\''"), ('\n', r"'\u{a}'")] {
            assert_eq!(QuotedChar(letter).to_string(), quoted);
        }
    }
}
