//! Steps in the background, which run one after another while other steps run.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::files;
use crate::step::{Failed, Outcome, Step, target_folder};

/// Steps that were started before their turn.
pub(crate) struct Background {
    /// The names of the steps whose results have not been requested yet.
    names: VecDeque<&'static str>,
    results: Receiver<Result<Ended, Failed>>,
    is_cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The result of a step.
pub(crate) struct Ended {
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

impl Background {
    /// Starts these steps of the current task, each in a process of its own.
    pub(crate) fn start(names: Vec<&'static str>) -> Result<Self, Failed> {
        let program = std::env::current_exe()
            .map_err(|error| Failed(format!("cannot find the path of this program: {error}")))?;
        files::make_folder(target_folder().join("tests"))?;
        let program = program.display().to_string();
        let step = |name| (Step::new(&program, &["test", "--only", name]), log_of(name));
        let steps: Vec<_> = names.iter().map(|name| step(name)).collect();
        println!("\nin the background: {}", names.join(", "));
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
                // The receiver no longer exists if another step has failed.
                let _ = sender.send(ended);
            }
        });
        Ok(Self { names: names.into(), results, is_cancelled, thread: Some(thread) })
    }

    /// Waits for a step and shows its output. Returns `None` if the given step is not the next of
    /// the background steps.
    pub(crate) fn wait_for(&mut self, name: &str) -> Result<Option<Ended>, Failed> {
        if self.names.front() != Some(&name) {
            return Ok(None);
        }
        self.names.pop_front();
        let died = |_| Failed(format!("the background thread that runs {name:?} panicked"));
        let ended = self.results.recv().map_err(died)??;
        print!("\n{}", String::from_utf8_lossy(&files::bytes(log_of(name))?));
        Ok(Some(ended))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The current step ends first, because it would otherwise continue to build and test
            // unattended.
            let _ = thread.join();
        }
    }
}

/// Returns the file for a step's output.
fn log_of(name: &str) -> PathBuf {
    target_folder()
        .join("tests")
        .join(format!("{}.log", name.replace(|l: char| !l.is_ascii_alphanumeric(), "-")))
}
