//! Statistics of many IDs. A web worker computes the statistics while it reads a file or a pasted
//! string piece by piece.

use flakeid_core::{Error, Layout};
use flakeid_json::{Bars, FiguresJson, TopNodes};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::{id, json, thrown};

/// The maximum length, in bytes, of a line that is parsed as an ID. The length includes room for
/// spaces around the ID.
const LONGEST_LINE: usize = 256;

/// The maximum numbers of nodes and bars that the page shows. Without these limits, the page would
/// parse and sort all nodes several times a second.
const MOST_NODES: usize = 24;
const MOST_BARS: usize = 120;

/// The UTF-8 byte order mark, which some Windows programs write at the beginning of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A reader of many IDs, for example from a JSON list or a table. The IDs are separated by line
/// breaks, spaces, tabs, commas, semicolons, double quotation marks or square brackets.
#[wasm_bindgen]
pub struct Many {
    layout: Layout,
    form: String,
    statistics: flakeid_core::Statistics,
    /// The incomplete line at the end of the last piece of input, if there is one.
    partial: Vec<u8>,
    /// Whether the incomplete line is already too long for an ID. If it is, the reader skips the
    /// remaining bytes of the line.
    is_too_long: bool,
    lines: u64,
    /// The number of lines that are not IDs of the layout. `first_rejected` states why the first of
    /// these lines was rejected.
    rejected: u64,
    first_rejected: Option<String>,
}

/// The statistics that the page shows.
#[derive(Serialize)]
struct Figures {
    #[serde(flatten)]
    of_all: FiguresJson,
    nodes: TopNodes,
    #[serde(flatten)]
    bars: Bars,
}

#[wasm_bindgen]
impl Many {
    /// Builds a reader of IDs that have the given layout and text form.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_LAYOUT` if the layout is invalid.
    #[wasm_bindgen(constructor)]
    pub fn new(layout: &str, form: String) -> Result<Self, JsValue> {
        let layout: Layout = layout.parse().map_err(thrown)?;
        Ok(Self {
            layout,
            form,
            statistics: flakeid_core::Statistics::new(layout),
            partial: Vec::new(),
            is_too_long: false,
            lines: 0,
            rejected: 0,
            first_rejected: None,
        })
    }

    /// Adds the next piece of input. Lines that are not IDs are counted and skipped.
    pub fn add(&mut self, piece: &[u8]) {
        let mut lines = piece.split(|byte| b"\n\r\t ,;\"[]".contains(byte));
        let last = lines.next_back().unwrap_or_default();
        for line in lines {
            if self.partial.is_empty() && !self.is_too_long {
                self.add_line(line);
            } else {
                self.extend(line);
                self.finish_line();
            }
        }
        self.extend(last);
    }

    /// Returns the statistics of the input so far. If the input has ended, the statistics include
    /// the number of repeated IDs.
    ///
    /// # Errors
    /// This function never returns an error.
    pub fn figures(&mut self, ended: bool) -> Result<String, JsValue> {
        if ended {
            self.finish_line();
        }
        let repeats = if ended { self.statistics.repeats() } else { None };
        json(&Figures {
            of_all: FiguresJson::new(&self.statistics, &self.layout, repeats),
            nodes: TopNodes::new(&self.statistics, MOST_NODES),
            bars: Bars::new(&self.statistics, &self.layout, MOST_BARS),
        })
    }

    /// Returns the number of lines that were not IDs of the layout.
    #[must_use]
    pub fn rejected(&self) -> f64 {
        self.rejected as f64
    }

    /// Returns the number of the first line that is not an ID of the layout, and the reason why the
    /// line was rejected.
    #[must_use]
    pub fn first_rejected(&self) -> Option<String> {
        self.first_rejected.clone()
    }

    /// Adds a part of a line whose end has not been read yet.
    fn extend(&mut self, part: &[u8]) {
        if self.partial.len() + part.len() > LONGEST_LINE {
            self.is_too_long = true;
            self.partial.clear();
        }
        if !self.is_too_long {
            self.partial.extend_from_slice(part);
        }
    }

    /// Ends the incomplete line, and parses the line as an ID.
    fn finish_line(&mut self) {
        if std::mem::take(&mut self.is_too_long) {
            self.lines += 1;
            self.reject("the line is too long to be an ID");
        } else {
            let partial = std::mem::take(&mut self.partial);
            self.add_line(&partial);
        }
    }

    fn add_line(&mut self, line: &[u8]) {
        let is_first = self.lines == 0;
        let line = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(line);
        if line.is_empty() {
            return;
        }
        self.lines += 1;
        let text = String::from_utf8_lossy(line);
        let added: Result<(), Error> = id(&text, &self.form).and_then(|id| self.statistics.add(id));
        if let Err(error) = added {
            self.reject(&error.to_string());
        }
    }

    fn reject(&mut self, reason: &str) {
        self.rejected += 1;
        if self.first_rejected.is_none() {
            self.first_rejected = Some(format!("number {}: {reason}", self.lines));
        }
    }
}
