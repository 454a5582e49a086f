//! Steps that run beside the others: each in a process of its own, one after the other.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::files;
use crate::step::{Failed, Outcome, Step, target_folder};

/// Steps that were begun before their turn.
pub(crate) struct Beside {
    /// Those whose results were not asked for yet.
    names: VecDeque<&'static str>,
    results: Receiver<Result<Ended, Failed>>,
    is_cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What came of a step.
pub(crate) struct Ended {
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

impl Beside {
    /// Begins these steps of the task that this process runs.
    pub(crate) fn start(names: Vec<&'static str>) -> Result<Self, Failed> {
        let program = std::env::current_exe()
            .map_err(|error| Failed(format!("cannot tell which program this is: {error}")))?;
        files::make_folder(target_folder().join("tests"))?;
        let program = program.display().to_string();
        let step = |name| (Step::new(&program, &["test", "--only", name]), log_of(name));
        let steps: Vec<_> = names.iter().map(|name| step(name)).collect();
        println!("\n{} run beside the others", names.join(", "));
        let (sender, results) = mpsc::channel();
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let cancelled = is_cancelled.clone();
        let thread = thread::spawn(move || {
            for (step, log) in steps {
                if cancelled.load(Ordering::Relaxed) {
                    return;
                }
                let start = Instant::now();
                let ended = step.run_into(&log).map(|succeeded| {
                    let failed = || Err(Failed(format!("failed: {}", step.shown())));
                    let outcome = if succeeded { Ok(()) } else { failed() };
                    Ended { took: start.elapsed(), outcome }
                });
                // Nobody waits for it where another step has failed.
                let _ = sender.send(ended);
            }
        });
        Ok(Self { names: names.into(), results, is_cancelled, thread: Some(thread) })
    }

    /// Waits for a step if it is one of these, and shows its output.
    pub(crate) fn wait_for(&mut self, name: &str) -> Result<Option<Ended>, Failed> {
        if self.names.front() != Some(&name) {
            return Ok(None);
        }
        self.names.pop_front();
        let died = |_| Failed(format!("the thread that runs {name:?} beside the others has died"));
        let ended = self.results.recv().map_err(died)??;
        print!("\n{}", String::from_utf8_lossy(&files::bytes(log_of(name))?));
        Ok(Some(ended))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What it runs now ends first: it would build and test on, and nobody would know.
            let _ = thread.join();
        }
    }
}

/// Where a step's output goes.
fn log_of(name: &str) -> PathBuf {
    target_folder()
        .join("tests")
        .join(format!("{}.log", name.replace(|l: char| !l.is_ascii_alphanumeric(), "-")))
}
