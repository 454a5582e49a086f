use std::time::Duration;

use flakeid_core::{Error, Generator, Id, ManualClock};

use crate::function::Place;
use crate::options::OptionTexts;

/// No call on the event loop waits longer, without progress, than this or a tick.
const LONGEST_ON_LOOP: Duration = Duration::from_millis(10);

/// A generator, and what the JavaScript around it needs.
pub(crate) struct Handle {
    pub(crate) generator: Generator,
    /// The longest wait on the event loop. None for manual clocks, where waiting takes no time.
    on_loop: Option<Duration>,
    /// Where `nextId` and `tryNextId` put their IDs.
    pub(crate) place: Place,
}

impl Handle {
    pub(crate) fn open(
        options: &OptionTexts,
        clock: Option<&ManualClock>,
        place: Place,
    ) -> Result<Self, Error> {
        let layout = options.layout()?;
        let mut builder = options.builder(layout)?;
        let on_loop = if let Some(clock) = clock {
            builder = builder.clock(clock.clone());
            None
        } else {
            let longest = LONGEST_ON_LOOP.min(Duration::from_millis(layout.unit_ms()));
            Some(options.max_wait()?.map_or(longest, |max_wait| max_wait.min(longest)))
        };
        Ok(Self { generator: builder.build()?, on_loop, place })
    }

    #[inline]
    pub(crate) fn next_id(&self) -> Result<Id, Error> {
        match self.on_loop {
            Some(longest) => self.generator.next_id_within(longest),
            None => self.generator.next_id(),
        }
    }

    #[inline]
    pub(crate) fn try_next_id(&self) -> Result<Id, Error> {
        self.generator.try_next_id()
    }

    pub(crate) fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        match self.on_loop {
            Some(longest) => self.generator.fill_within(ids, longest),
            None => self.generator.fill(ids),
        }
    }

    pub(crate) fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        match self.on_loop {
            Some(longest) => self.generator.next_ids_within(n, longest),
            None => self.generator.next_ids(n),
        }
    }

    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.generator.try_fill(ids)
    }
}
