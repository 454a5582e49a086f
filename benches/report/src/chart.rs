//! The chart of the README: the cost of an ID in each language, as a multiple of its floor.

use crate::data::{Role, Suite};

const WIDTH: f64 = 900.0;
const MARGIN: f64 = 20.0;
/// Position at which labels end and bars begin.
const BARS: f64 = 430.0;
/// Space after the longest bar for its figure.
const FIGURE: f64 = 80.0;
const BAR: f64 = 14.0;
const STEP: f64 = 20.0;
const PANEL: f64 = 34.0;
/// Number of characters that fit in front of the bars.
const LABEL: usize = 64;
/// Longest ratio of a bar, so that a slow rival leaves room for the others. The figures show the whole ratio.
const LONGEST: f64 = 5.0;

/// Style of the picture. Its background follows the reader's system, so that the text is readable on any page.
const STYLE: &str = "\
    .back{fill:#fff}.text{fill:#1f2328}.line{stroke:#59636e}\
    .soft{fill:#59636e;stroke:#fff}\
    .floor{fill:#8c959f}.ours{fill:#0969da}.rival{fill:#bf8700}\
    @media(prefers-color-scheme:dark){\
    .back{fill:#0d1117}.text{fill:#e6edf3}.line{stroke:#9198a1}\
    .soft{fill:#9198a1;stroke:#0d1117}\
    .floor{fill:#6e7681}.ours{fill:#4493f8}.rival{fill:#d29922}}\
    text{font-family:system-ui,sans-serif;font-size:12px}.head{font-size:14px;font-weight:600}\
    .soft{stroke-width:4px;paint-order:stroke}";

pub(crate) fn draw(suites: &[&Suite]) -> String {
    let mut drawing = Drawing { elements: Vec::new(), y: MARGIN };
    drawing.heading();
    for suite in suites {
        drawing.panel(suite);
    }
    let height = drawing.y + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>CPU cost of an ID in each language, as a multiple of its floor</title>\n\
         <style>{STYLE}</style>\n\
         <rect class=\"back\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n{}</svg>\n",
        drawing.elements.concat()
    )
}

struct Drawing {
    elements: Vec<String>,
    /// Top of the next element.
    y: f64,
}

impl Drawing {
    fn heading(&mut self) {
        self.text(
            MARGIN,
            "head text",
            "start",
            "CPU cost of one ID, × the floor: shorter is faster",
        );
        let mut x = BARS + 60.0;
        for (class, name) in [("floor", "the floor"), ("ours", "flakeid"), ("rival", "others")] {
            self.bar(x, 12.0, class);
            self.text(x + 18.0, "soft", "start", name);
            x += 100.0;
        }
        self.y += STEP;
    }

    /// Draws the bars of one language on a scale of its own.
    fn panel(&mut self, suite: &Suite) {
        let mut rows: Vec<_> = suite.charted().collect();
        if rows.is_empty() {
            return;
        }
        rows.sort_by(|(_, _, left), (_, _, right)| left.total_cmp(right));
        let largest = rows.iter().map(|&(_, _, ratio)| ratio).fold(1.0, f64::max);
        let scale = (WIDTH - MARGIN - FIGURE - BARS) / largest.min(LONGEST);
        self.y += PANEL - STEP;
        self.text(MARGIN, "head text", "start", &suite.name);
        self.y += STEP;
        // Drawn first, behind the bars and their figures.
        let (x, top) = (BARS + scale, self.y);
        let bottom = top + STEP * rows.len() as f64 - (STEP - BAR);
        self.elements.push(format!(
            "<line class=\"line\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\" \
             stroke-dasharray=\"2 3\"/>\n"
        ));
        for (row, role, ratio) in rows {
            let class = match role {
                Role::Floor => "floor",
                Role::Ours => "ours",
                Role::Rival => "rival",
            };
            self.text(BARS - 8.0, "text", "end", &plain(&row.label));
            let width = ratio.min(LONGEST) * scale;
            self.bar(BARS, width.max(1.0), class);
            let cut = if ratio > LONGEST { " →" } else { "" };
            self.text(BARS + width + 6.0, "soft", "start", &format!("{ratio:.2} ×{cut}"));
            self.y += STEP;
        }
    }

    fn bar(&mut self, x: f64, width: f64, class: &str) {
        self.elements.push(format!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" \
             height=\"{BAR}\" rx=\"2\"/>\n",
            self.y
        ));
    }

    fn text(&mut self, x: f64, class: &str, anchor: &str, text: &str) {
        self.elements.push(format!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>\n",
            self.y + 11.0,
            escaped(text)
        ));
    }
}

/// Removes the marks of Markdown and shortens the label to the available space.
fn plain(label: &str) -> String {
    let plain = label.replace("**", "").replace('`', "");
    if plain.chars().count() <= LABEL {
        return plain;
    }
    let mut cut: String = plain.chars().take(LABEL - 1).collect();
    cut.push('…');
    cut
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests only")]

    use super::*;
    use crate::data::suite_of;

    /// Checks that every element is closed, attributes are quoted, and special characters are escaped.
    fn check(mut xml: &str) {
        let mut open = Vec::new();
        while let Some(at) = xml.find('<') {
            let text = &xml[..at];
            assert!(!text.contains('>'), "{text}");
            for entity in text.split('&').skip(1) {
                assert!(["amp;", "lt;", "gt;"].iter().any(|known| entity.starts_with(known)));
            }
            let end = at + xml[at..].find('>').expect("a tag ends");
            let tag = &xml[at + 1..end];
            assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
            assert!(!tag.contains('<'), "{tag}");
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(name);
            }
            xml = &xml[end + 1..];
        }
        assert!(open.is_empty() && xml.trim().is_empty(), "{open:?} {xml}");
    }

    fn rows() -> Suite {
        suite_of(
            "R & D",
            &[
                ("F: \"the\" <floor> & `more`", Role::Floor, 1.0),
                ("**flakeid** `next_id`", Role::Ours, 0.22),
                (
                    "slow, and with a label that is much longer than the available space",
                    Role::Rival,
                    72.9,
                ),
            ],
        )
    }

    #[test]
    fn chart_is_well_formed_xml_for_any_label() {
        check(&draw(&[&rows(), &suite_of("empty", &[])]));
        check(&draw(&[]));
    }

    #[test]
    fn chart_sorts_bars_by_ratio_and_shows_each_ratio() {
        let chart = draw(&[&rows()]);
        let place = |text: &str| chart.find(text).expect(text);
        assert!(place("0.22 ×<") < place("1.00 ×<") && place("1.00 ×<") < place("72.90 × →<"));
        assert!(chart.contains(">flakeid next_id<") && chart.contains("available s…<"));
    }

    #[test]
    fn bar_widths_match_ratios_and_fit_inside_the_chart() {
        let chart = draw(&[&suite_of("x", &[("F", Role::Floor, 1.0), ("b", Role::Rival, 2.0)])]);
        assert!(chart.contains("width=\"370.0\"") && chart.contains("width=\"185.0\""), "{chart}");
    }
}
