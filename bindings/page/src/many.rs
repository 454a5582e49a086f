//! Many IDs at once, in the worker: the bytes of a file or of a paste, piece by piece.

use flakeid_core::{Error, Layout};
use flakeid_json::StatsJson;
use wasm_bindgen::prelude::*;

use crate::{id, json, thrown};

/// The longest line that can be an ID, with room for spaces around it.
const LONGEST_LINE: usize = 256;

/// Reads IDs, one in each line, or as a list of a JSON file or a table.
#[wasm_bindgen]
pub struct Many {
    layout: Layout,
    form: String,
    statistics: flakeid_core::Statistics,
    /// The end of the last piece, if its last line is not over.
    begun: Vec<u8>,
    lines: u64,
    /// Lines that are no IDs of the layout, and the first of them.
    refused: u64,
    first_refused: Option<String>,
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
            if self.begun.is_empty() {
                self.line(line);
            } else {
                let mut begun = std::mem::take(&mut self.begun);
                begun.extend_from_slice(line);
                self.line(&begun);
            }
        }
        if self.begun.len() + last.len() <= LONGEST_LINE {
            self.begun.extend_from_slice(last);
        } else {
            self.begun.clear();
            self.refuse("a line that is too long for an ID");
        }
    }

    /// What there is to say so far, with the repeats if the IDs have ended.
    ///
    /// # Errors
    /// None.
    pub fn figures(&mut self, ended: bool) -> Result<String, JsValue> {
        if !ended {
            return json(&StatsJson::without_repeats(&self.statistics, &self.layout));
        }
        let begun = std::mem::take(&mut self.begun);
        self.line(&begun);
        json(&StatsJson::new(&mut self.statistics, &self.layout))
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

    fn line(&mut self, line: &[u8]) {
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
