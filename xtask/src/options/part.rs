//! One part of a file that lists options: its mark, and the lines that stand there.

use flakeid_steps::Failed;

use super::table::{Handle, Opt, Table};

/// The beginning of a mark.
pub(super) const BEGIN: &str = "[options: ";

/// The part that a mark names.
pub(super) struct Part<'a> {
    pub(super) handle: Handle,
    pub(super) name: &'a str,
    pub(super) except: Vec<&'a str>,
}

/// The lines of a part, without their indentation.
pub(super) type Lines = Result<Vec<String>, Failed>;

impl<'a> Part<'a> {
    /// Reads the words of a mark.
    pub(super) fn read(mark: &'a str) -> Result<Self, Failed> {
        let wrong = || Failed(format!("{BEGIN}{mark}]: expected HANDLE PART [except NAME ...]"));
        let mut words = mark.split_whitespace();
        let (handle, name) = words.next().zip(words.next()).ok_or_else(wrong)?;
        let handle = Handle::ALL.into_iter().find(|known| known.name() == handle);
        let except = match words.next() {
            None => Vec::new(),
            Some("except") => words.collect(),
            Some(_) => return Err(wrong()),
        };
        Ok(Self { handle: handle.ok_or_else(wrong)?, name, except })
    }

    /// Returns the options that this part lists.
    pub(super) fn options<'t>(&self, table: &'t Table) -> Result<Vec<Opt<'t>>, Failed> {
        let all: Vec<Opt<'t>> = table.of(self.handle).collect();
        for name in &self.except {
            if !all.iter().any(|option| option.name() == *name) {
                return Err(Failed(format!("{BEGIN}…]: a {} has no {name}", self.handle.name())));
            }
        }
        Ok(all.into_iter().filter(|option| !self.except.contains(&option.name())).collect())
    }

    /// Returns the error for a part that the file's language does not have.
    pub(super) fn unknown(&self) -> Failed {
        Failed(format!("{BEGIN}…]: there is no part {} of a {}", self.name, self.handle.name()))
    }
}
