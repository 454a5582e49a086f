use std::time::{Duration, Instant};

use crate::store::Fault;

/// What a transaction does to stay out of others' way. The first attempt hopes for the best; a
/// conflict shows what the next one needs.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::store) struct Care {
    /// Has the namespace to itself from the beginning, to change it.
    pub(in crate::store) alone: bool,
    /// Looks for unused nodes in another place than the others who were in conflict, where a server
    /// cannot pass over those that another is about to take.
    #[cfg_attr(not(feature = "mysql"), allow(dead_code, reason = "only MySQL needs it"))]
    pub(in crate::store) apart: bool,
}

/// How long all attempts together may take. One more may begin just before.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs `attempt` until it ends in anything but a conflict.
///
/// # Errors
/// What `attempt` returned; [`Fault::Unavailable`] when it was in conflict for too long.
pub(in crate::store) fn rerun(
    place: &str,
    mut attempt: impl FnMut(&mut Care) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let begun = Instant::now();
    let mut care = Care::default();
    let mut most = 2.0;
    loop {
        match attempt(&mut care) {
            Err(Fault::Conflict) if begun.elapsed() < PATIENCE => {}
            Err(Fault::Conflict) => {
                return Err(Fault::Unavailable(format!("{place}: {}", Fault::Conflict)));
            }
            other => return other,
        }
        if !care.alone {
            care.apart = true;
        }
        std::thread::sleep(Duration::from_secs_f64(most * part() / 1_000.0));
        most = f64::min(most * 2.0, 50.0);
    }
}

/// From 0 to 1, at random.
pub(in crate::store) fn part() -> f64 {
    // Jitter goes from 0.8 to 1.2.
    ((crate::random::jitter() - 0.8) / 0.4).clamp(0.0, 1.0)
}
