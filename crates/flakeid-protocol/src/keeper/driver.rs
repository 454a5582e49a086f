//! The loop that executes the instructions of a keeper.

use std::time::Duration;

use flakeid_core::Error;

use super::{Begin, Demand, Input, Output, Reading, Reply, Report};

/// The driver of a keeper. The driver provides the clocks, the generator, the lessors and the observer.
///
/// A driver makes no decisions: [`follow`](Self::follow) executes a keeper's instructions with the other methods. A
/// lease's thread, JavaScript's `fetch`, a broker and the protocol model all run this loop.
pub trait Driver {
    /// Reads the clocks and the state of the generator.
    fn reading(&self) -> Reading;

    /// Passes an input to the keeper, and returns the keeper's outputs.
    fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output>;

    /// Creates a generator.
    ///
    /// # Errors
    /// The error from the generator's clock.
    fn begin(&mut self, begin: &Begin) -> Result<(), Error>;

    /// Lets the generator issue IDs in the ticks below a confirmed fence. Returns `false` if there is no generator or
    /// if the generator cannot be extended.
    fn extend(&mut self, fence: u64) -> bool;

    /// Ends the generator, if there is one. Returns `used_until` and `keeps_fence` for [`Input::Ended`].
    fn end(&mut self) -> (u64, bool);

    /// Processes a report from the keeper.
    fn report(&mut self, reading: &Reading, report: Report);

    /// Sends a request. `read` is the value of [`Reading::passed`] when the clock was read for the request. Returns
    /// `None` if the driver passes the reply to the keeper later or not at all.
    fn send(&mut self, demand: Demand, read: Duration) -> Option<Reply>;

    /// Passes an input to the keeper, executes the resulting instructions in order, and passes their results back to
    /// the keeper.
    fn follow(&mut self, input: Input) {
        let reading = self.reading();
        for output in self.handle(&reading, input) {
            let result = match output {
                Output::Begin(begin) => {
                    let result = self.begin(&begin);
                    Some(Input::Began { begin, result })
                }
                Output::Extend { fence } if self.extend(fence) => None,
                // If the window cannot be extended, the driver ends the generator, so that the keeper replaces the
                // generator.
                Output::Extend { .. } | Output::End => {
                    let (used_until, keeps_fence) = self.end();
                    Some(Input::Ended { used_until, keeps_fence })
                }
                Output::Report(report) => {
                    self.report(&reading, report);
                    None
                }
                Output::Demand(demand) => self.send(demand, reading.passed).map(Input::Reply),
            };
            if let Some(input) = result {
                self.follow(input);
            }
        }
    }
}
