//! Many IDs at once, in the worker: the bytes of a file or of a paste, piece by piece.

use flakeid_core::{Error, Layout};
use flakeid_json::{Bars, FiguresJson, TopNodes};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::{id, json, thrown};

/// The longest line that can be an ID, with room for spaces around it.
const LONGEST_LINE: usize = 256;

/// What the page has room for. It must not get more: it would have to read and sort all nodes several times a second.
const MOST_NODES: usize = 24;
const MOST_BARS: usize = 120;

/// At the beginning of a file, Windows' programs write what says that it is UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads IDs, one in each line, or as a list of a JSON file or a table.
#[wasm_bindgen]
pub struct Many {
    layout: Layout,
    form: String,
    statistics: flakeid_core::Statistics,
    /// The end of the last piece, if its last line is not over.
    begun: Vec<u8>,
    /// Whether that line is already too long for an ID; what follows in it is no other ID.
    is_too_long: bool,
    lines: u64,
    /// Lines that are no IDs of the layout, and the first of them.
    refused: u64,
    first_refused: Option<String>,
}

/// What the page shows.
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
    /// # Errors
    /// `FLAKEID_INVALID_LAYOUT`.
    #[wasm_bindgen(constructor)]
    pub fn new(layout: &str, form: String) -> Result<Self, JsValue> {
        let layout: Layout = layout.parse().map_err(thrown)?;
        Ok(Self {
            layout,
            form,
            statistics: flakeid_core::Statistics::new(layout),
            begun: Vec::new(),
            is_too_long: false,
            lines: 0,
            refused: 0,
            first_refused: None,
        })
    }

    /// Adds the next piece. Whatever is no ID is counted, and left out.
    pub fn add(&mut self, piece: &[u8]) {
        let mut lines = piece.split(|byte| b"\n\r\t ,;\"[]".contains(byte));
        let last = lines.next_back().unwrap_or_default();
        for line in lines {
            if self.begun.is_empty() && !self.is_too_long {
                self.line(line);
            } else {
                self.begin(line);
                self.end();
            }
        }
        self.begin(last);
    }

    /// What there is to say so far, with the repeats if the IDs have ended.
    ///
    /// # Errors
    /// None.
    pub fn figures(&mut self, ended: bool) -> Result<String, JsValue> {
        if ended {
            self.end();
        }
        let repeats = if ended { self.statistics.repeats() } else { None };
        json(&Figures {
            of_all: FiguresJson::new(&self.statistics, &self.layout, repeats),
            nodes: TopNodes::new(&self.statistics, MOST_NODES),
            bars: Bars::new(&self.statistics, &self.layout, MOST_BARS),
        })
    }

    /// How many lines were no IDs of the layout.
    #[must_use]
    pub fn refused(&self) -> f64 {
        self.refused as f64
    }

    /// Why the first of them was not, and where.
    #[must_use]
    pub fn first_refused(&self) -> Option<String> {
        self.first_refused.clone()
    }

    /// Part of a line whose end comes later.
    fn begin(&mut self, part: &[u8]) {
        if self.begun.len() + part.len() > LONGEST_LINE {
            self.is_too_long = true;
            self.begun.clear();
        }
        if !self.is_too_long {
            self.begun.extend_from_slice(part);
        }
    }

    /// The line that was begun is over.
    fn end(&mut self) {
        if std::mem::take(&mut self.is_too_long) {
            self.lines += 1;
            self.refuse("a line that is too long for an ID");
        } else {
            let begun = std::mem::take(&mut self.begun);
            self.line(&begun);
        }
    }

    fn line(&mut self, line: &[u8]) {
        let is_first = self.lines == 0;
        let line = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(line);
        if line.is_empty() {
            return;
        }
        self.lines += 1;
        let text = String::from_utf8_lossy(line);
        let added: Result<(), Error> = id(&text, &self.form).and_then(|id| self.statistics.add(id));
        if let Err(error) = added {
            self.refuse(&error.to_string());
        }
    }

    fn refuse(&mut self, why: &str) {
        self.refused += 1;
        if self.first_refused.is_none() {
            self.first_refused = Some(format!("number {}: {why}", self.lines));
        }
    }
}
