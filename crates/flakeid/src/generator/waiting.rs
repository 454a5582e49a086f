//! Calls that wait, and that a binding can interrupt, for example when the user presses Ctrl-C.

use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{Error, Id};

use super::{Generator, Kind};

/// The longest time for which a call waits before it checks whether it was interrupted.
const SLICE: Duration = Duration::from_millis(100);

/// The largest number of IDs that are generated before the call reads the time.
const PIECE: usize = 1 << 16;

impl Generator {
    /// Repeats a call that failed with `error` for as long as [`next_id`](Self::next_id) waits. `attempt` repeats the
    /// call, and waits at most the given time for the clock. `check` is called at least every 100 ms, and ends the
    /// call if it returns an error.
    ///
    /// # Errors
    /// The error of `check`. The inner result contains the last error of `attempt`.
    #[doc(hidden)]
    pub fn wait_interruptibly<T, E>(
        &self,
        mut error: Error,
        mut attempt: impl FnMut(Duration) -> Result<T, Error>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Result<T, Error>, E> {
        let begun = Instant::now();
        let (mut waited, mut slept) = (Duration::ZERO, Duration::ZERO);
        loop {
            let left = self.max_wait().saturating_sub(waited);
            let slice = if !left.is_zero() && self.would_wait(&error) {
                if !slept.is_zero() {
                    either!(&self.0, it => it.merge_waits());
                }
                left.min(SLICE)
            } else if let Some(pause) = self.retry_pause(&error, waited) {
                thread::sleep(pause.min(SLICE));
                Duration::ZERO
            } else {
                return Ok(Err(error));
            };
            match attempt(slice) {
                Ok(done) => return Ok(Ok(done)),
                Err(again) => error = again,
            }
            // A wait for a manual clock moves the clock and takes no time, so the requested time counts, too.
            slept = slice;
            waited = begun.elapsed().max(waited.saturating_add(slice));
            check()?;
        }
    }

    /// Fills `ids` like [`fill`](Self::fill). `check` is called at least every 100 ms, and ends the call if it returns
    /// an error.
    ///
    /// # Errors
    /// The error of `check`. The inner result contains the errors of [`fill`](Self::fill).
    #[doc(hidden)]
    pub fn fill_interruptibly<E>(
        &self,
        ids: &mut [Id],
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Result<usize, Error>, E> {
        let (mut filled, mut checked) = (0, Instant::now());
        while filled < ids.len() {
            let end = ids.len().min(filled + PIECE);
            let piece = &mut ids[filled..end];
            let tried = match self.try_fill(piece) {
                Err(error) => self.wait_interruptibly(
                    error,
                    |slice| self.fill_once_within(piece, slice),
                    &mut check,
                )?,
                tried => tried,
            };
            match tried {
                Ok(more) => filled += more,
                Err(error) if filled == 0 => return Ok(Err(error)),
                // The next call encounters the same obstacle.
                Err(_) => break,
            }
            if checked.elapsed() > SLICE {
                check()?;
                checked = Instant::now();
            }
        }
        Ok(Ok(filled))
    }

    /// Fills `ids` like [`fill_within`](Self::fill_within), but waits only for the first ID.
    fn fill_once_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        either!(&self.0, it => it.fill_once_within(ids, max_wait))
    }

    /// Whether `error` ends when the clock advances, and the policies allow to wait for the clock.
    fn would_wait(&self, error: &Error) -> bool {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.would_wait(error),
            Kind::Leased(leased) => leased.would_wait(error),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use flakeid_core::{Clock, ErrorKind, Layout, ManualClock, Overflow, SystemClock};

    use super::super::tests::both;
    use super::*;

    /// Returns a generator with one ID for each tick of an hour.
    fn hourly(clock: impl Clock, max_wait: Duration) -> Generator {
        let layout: Layout = "t30.n8.s8@0/3600000ms".parse().unwrap();
        let builder = Generator::builder(layout).node(1).sequence_mask(0);
        builder.clock(clock).max_wait(max_wait).build().unwrap().into()
    }

    fn next_id<E>(
        generator: &Generator,
        check: impl FnMut() -> Result<(), E>,
    ) -> Result<Result<Id, Error>, E> {
        match generator.try_next_id() {
            Ok(id) => Ok(Ok(id)),
            Err(error) => {
                let attempt = |slice| generator.next_id_within(slice);
                generator.wait_interruptibly(error, attempt, check)
            }
        }
    }

    #[test]
    fn interruption_ends_waits_for_long_ticks() {
        let generator = hourly(SystemClock, Duration::from_secs(7200));
        let begun = Instant::now();
        let mut checks = 0;
        let mut check = || {
            checks += 1;
            if checks == 3 { Err("interrupted") } else { Ok(()) }
        };
        assert_eq!(next_id(&generator, &mut check), Err("interrupted"));
        checks = 0;
        let mut ids = [Id::from_u64(0); 3];
        let check = || {
            checks += 1;
            if checks == 3 { Err("interrupted") } else { Ok(()) }
        };
        assert_eq!(generator.fill_interruptibly(&mut ids, check), Err("interrupted"));
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    #[test]
    fn waits_move_a_manual_clock_by_max_wait_at_most() {
        let clock = ManualClock::new(1_700_000_000_000);
        let generator = hourly(clock.clone(), Duration::from_millis(250));
        generator.next_id().unwrap();
        let error = next_id(&generator, || Ok::<_, ()>(())).unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
        assert_eq!(clock.unix_ms(), 1_700_000_000_250);
        let generator = hourly(clock.clone(), Duration::from_secs(7200));
        generator.next_ids(1).unwrap();
        let mut ids = [Id::from_u64(0); 3];
        assert_eq!(generator.fill_interruptibly(&mut ids, || Ok::<_, ()>(())), Ok(Ok(3)));
        assert!(ids.is_sorted_by(|a, b| a < b));
        // The wait for each of the three ticks was divided into thousands of slices.
        assert_eq!(generator.stats().waits, 3);
    }

    #[test]
    fn calls_that_must_not_wait_fail_at_once() {
        let clock = ManualClock::new(1_700_000_000_000);
        let builder = Generator::builder(Layout::TWITTER).node(5).sequence_mask(0);
        let generator = builder.clock(clock.clone()).overflow(Overflow::Error).build().unwrap();
        let generator = Generator::from(generator);
        let mut ids = [Id::from_u64(0); 2];
        let check = || Err("checked");
        assert_eq!(generator.fill_interruptibly(&mut ids, check), Ok(Ok(1)));
        let refused = generator.fill_interruptibly(&mut ids, check).unwrap().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::SequenceExhausted);
        assert_eq!(clock.unix_ms(), 1_700_000_000_000);
    }

    #[test]
    fn long_fills_return_all_ids_on_fixed_and_leased_nodes() {
        for generator in both() {
            let mut ids = vec![Id::from_u64(0); 20_000];
            let filled = generator.fill_interruptibly(&mut ids, || Ok::<_, ()>(()));
            assert_eq!(filled, Ok(Ok(20_000)));
            assert!(ids.is_sorted_by(|a, b| a < b));
            generator.close();
            let refused = generator.fill_interruptibly(&mut ids, || Ok::<_, ()>(()));
            assert_eq!(refused.unwrap().unwrap_err().kind(), ErrorKind::Closed);
        }
    }
}
