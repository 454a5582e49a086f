//! A drawing of the 64 bits of an ID or a layout, which shows the field of each bit.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use flakeid_core::{Field, Id, Layout};

use super::DIM;

/// The number of bits in a group. A space separates adjacent groups in the drawing.
const GROUP: usize = 8;

/// The mark for bits that no field uses.
const UNUSED: char = '-';

/// The mark that identifies the field of a bit: a colour, and a letter for output without colour.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mark {
    letter: char,
    style: Style,
}

/// Draws each row of bits on two or three lines: the number of the first bit in each group, the bits of the ID (if an
/// ID is given), and the letters of the fields.
pub(crate) fn draw(layout: &Layout, id: Option<Id>, columns: usize) -> String {
    let marks = marks(layout);
    let digits: Option<Vec<char>> = id.map(|id| format!("{:064b}", id.to_u64()).chars().collect());
    let in_row = bits_per_row(columns);
    let mut text = String::new();
    for first in (0..marks.len()).step_by(in_row) {
        let row = first..first + in_row;
        let mut ruler = String::new();
        for group in row.clone().step_by(GROUP) {
            let _ = write!(ruler, "{:<9}", marks.len() - 1 - group);
        }
        let _ = writeln!(text, "  {DIM}{}{DIM:#}", ruler.trim_end());
        if let Some(digits) = &digits {
            text += &line(&digits[row.clone()], &marks[row.clone()]);
        }
        let letters: Vec<char> = marks[row.clone()].iter().map(|mark| mark.letter).collect();
        text += &line(&letters, &marks[row]);
    }
    text
}

/// Formats the legend entry for a field: the letter in the field's colour, the name and the width.
pub(crate) fn legend(field: Field, width: u8) -> String {
    entry(field.letter(), style(field), field.name(), u32::from(width))
}

/// Formats the legend entry for the unused bits above all fields, or returns `None` if the layout uses all bits.
pub(crate) fn legend_of_unused(layout: &Layout) -> Option<String> {
    let width = 64 - layout.width();
    (width > 0).then(|| entry(UNUSED, DIM, "unused", width))
}

fn entry(letter: char, style: Style, name: &str, width: u32) -> String {
    let bits = if width == 1 { "bit " } else { "bits" };
    format!("  {style}{letter}{style:#}  {name:<14}  {width:>2} {bits}")
}

/// Returns the number of bits per row. A terminal of 80 columns has room for all 64 bits, and narrower terminals may
/// need several rows.
const fn bits_per_row(columns: usize) -> usize {
    match columns {
        0..38 => 16,
        38..74 => 32,
        _ => 64,
    }
}

/// Returns a mark for every bit, starting with the most significant bit.
fn marks(layout: &Layout) -> Vec<Mark> {
    let unused = Mark { letter: UNUSED, style: DIM };
    let mut below = Vec::with_capacity(64);
    for span in layout.fields() {
        let mark = Mark { letter: span.field.letter(), style: style(span.field) };
        below.extend(std::iter::repeat_n(mark, usize::from(span.width)));
    }
    let mut marks = vec![unused; 64 - below.len()];
    marks.append(&mut below);
    marks
}

/// Draws a row of characters, with escape codes only where the colour changes.
fn line(characters: &[char], marks: &[Mark]) -> String {
    let mut text = String::from("  ");
    let mut style: Option<Style> = None;
    for (index, (character, mark)) in characters.iter().zip(marks).enumerate() {
        if style != Some(mark.style) {
            if let Some(style) = style {
                let _ = write!(text, "{style:#}");
            }
            let _ = write!(text, "{}", mark.style);
            style = Some(mark.style);
        }
        text.push(*character);
        if (index + 1).is_multiple_of(GROUP) && index + 1 < characters.len() {
            text.push(' ');
        }
    }
    if let Some(style) = style {
        let _ = write!(text, "{style:#}");
    }
    text.push('\n');
    text
}

/// Returns a field's colour. In every layout, neighbouring fields have different colours, and all colours are
/// readable on dark and light backgrounds.
fn style(field: Field) -> Style {
    let color = match field {
        Field::Time => AnsiColor::Cyan,
        Field::Datacenter | Field::Node => AnsiColor::Yellow,
        Field::Worker => AnsiColor::Green,
        Field::Sequence => AnsiColor::Magenta,
        Field::ClockSequence => AnsiColor::Blue,
        _ => return DIM,
    };
    color.on_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn bit_diagram_fits_in_one_row_at_eighty_columns() {
        assert_eq!(
            plain(&draw(&Layout::TWITTER, Some(Id::from_u64(910_499_571_847_892_992)), 80)),
            "  63       55       47       39       31       23       15       7\n\
             \x20 00001100 10100010 10111110 10001001 01011100 00100011 10010000 00000000\n\
             \x20 -ttttttt tttttttt tttttttt tttttttt tttttttt ttdddddw wwwwssss ssssssss\n"
        );
    }

    #[test]
    fn diagram_uses_more_rows_on_narrow_terminals() {
        let text = plain(&draw(&Layout::FLAKEID, None, 60));
        assert_eq!(
            text,
            "  63       55       47       39\n\
             \x20 tttttttt tttttttt tttttttt tttttttt\n\
             \x20 31       23       15       7\n\
             \x20 tttttttt ttdddddw wwwwssss ssssssss\n"
        );
        assert!(plain(&draw(&Layout::FLAKEID, None, 20)).lines().all(|line| line.len() <= 19));
    }

    #[test]
    fn diagram_changes_colour_only_at_field_boundaries() {
        let text = draw(&Layout::TWITTER, None, 80);
        let row = text.lines().nth(1).unwrap_or_default();
        assert_eq!(row.matches("\u{1b}[0m").count(), 5, "{row:?}");
    }
}
