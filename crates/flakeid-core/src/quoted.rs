use core::fmt::{self, Write};

/// Input as messages quote it. What would move the cursor or reorder a line is escaped. `{:?}`
/// escapes whatever Unicode does not call printable, and its tables for that were a twentieth of
/// the WebAssembly module.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => {
                    f.write_char('\\')?;
                    f.write_char(letter)?;
                }
                // Invisible: joiners, marks of direction, separators of lines.
                '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}' => write!(f, "\\u{{{:x}}}", u32::from(letter))?,
                letter if letter.is_control() => write!(f, "\\u{{{:x}}}", u32::from(letter))?,
                letter => f.write_char(letter)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn only_what_misleads_is_escaped() {
        for (text, quoted) in [
            ("t41.n10", r#""t41.n10""#),
            ("día 日", r#""día 日""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("a\nb\u{1b}[0m", r#""a\u{a}b\u{1b}[0m""#),
            ("\u{202e}7", r#""\u{202e}7""#),
        ] {
            assert_eq!(Quoted(text).to_string(), quoted);
        }
    }
}
