//! Support for systems without Unix signals, such as Windows, where only the command itself can be ended.

#![allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Unix")]

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

/// The only signal on systems without Unix signals: Ctrl-C.
pub(super) type Signal = ();

/// The command, which is the only process that can be ended on these systems. The console sends Ctrl-C to the command
/// directly. The operating system has no equivalent of SIGTERM, so this process can only kill the command.
pub(super) struct Processes;

impl Processes {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn prepare(&self, _: &mut Command) {}

    /// Waits for Ctrl-C, which would otherwise end this process before the command ends.
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
        // An error is ignored: either the command has already ended, or the command cannot be killed and this process
        // waits until the command ends.
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

/// Returns the exit status that a shell reports for a command that was terminated by Ctrl-C.
pub(super) fn status_of_signal((): Signal) -> u8 {
    130
}
