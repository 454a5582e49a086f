//! The command on systems without signals, where only the command itself can be ended.

#![allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Unix")]

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

/// The only signal that is forwarded: Ctrl-C.
pub(super) type Signal = ();

/// Only the command itself is ended. The console sends Ctrl-C to the command, and the operating system
/// offers no gentler way to end a process than to kill it.
pub(super) struct Processes;

impl Processes {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn prepare(&self, _: &mut Command) {}

    /// Waits for Ctrl-C, which would otherwise end this process before the command.
    pub(super) async fn next(&mut self) -> Option<Signal> {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await;
        }
        Some(())
    }

    pub(super) fn forward(&mut self, _: Option<u32>, (): Signal) {}

    pub(super) fn end(&mut self, _: Option<u32>) {}

    pub(super) fn end_remaining(&mut self, _: Option<u32>, _: bool) {}

    pub(super) fn kill(&mut self, command: &mut Child, _: u64) {
        // An error is ignored: either the command has already ended, or it cannot be killed and this process waits
        // for it.
        let _ = command.start_kill();
    }

    pub(super) fn reap(_: Option<u32>) {}

    pub(super) fn have_ended() -> bool {
        true
    }
}

pub(super) fn status_of(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Returns the status that a shell reports after Ctrl-C.
pub(super) fn status_of_signal((): Signal) -> u8 {
    130
}
