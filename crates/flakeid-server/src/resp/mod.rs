//! The server for connections from Redis clients. The server replies to commands in order, and stops reading commands
//! while the client does not read its replies.
//!
//! Each connection buffers at most 204 KiB. Commands take up to 16 KiB, and replies without IDs take up to 16 KiB. A
//! piece of 4,096 IDs takes up to 108 KiB as text. The connection also holds two copies of these IDs as 64-bit numbers,
//! which together take 64 KiB.

mod commands;
mod reply;
mod request;

use std::future::pending;
use std::io;
use std::time::Duration;

use bytes::BufMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::connection::{Connection as Accepted, Phase, Phases, Shared, encrypted, reached};
use crate::connections::{Busy, Slot};
use crate::listener::Stream;
use commands::Session;
use request::parse;
pub(crate) use request::{LONGEST, LONGEST_WORD, MOST_WORDS};

/// The size in bytes at which buffered replies are sent, even if more commands have already been received.
const MOST_BUFFERED: usize = 16 * 1_024;

/// The maximum number of bytes to read from the socket at a time.
const READ: usize = 4_096;

/// The idle time after which a server that is shutting down closes a connection.
const PAUSE_BEFORE_END: Duration = Duration::from_millis(100);

/// Serves a connection until the client, the server or a timeout ends the connection.
pub(crate) async fn serve(connection: Accepted, shared: Shared) {
    let Some(connection) = encrypted(connection, &shared).await else { return };
    let Accepted { stream, peer, names, slot } = connection;
    let Shared { service, phases, idle_timeout, .. } = shared;
    let session = Session::new(&service, peer, names);
    // Redis clients keep unused connections in pools, so a connection that does not require a token counts as accepted
    // before the first command.
    if session.is_admitted() {
        slot.state.accept(Instant::now().into_std());
    }
    let mut connection =
        Connection { stream, session, slot, input: Vec::new(), idle_timeout, phases };
    // Errors are ignored, because the client may close the connection at any time.
    drop(connection.run().await);
    drop(timeout(idle_timeout, connection.stream.shutdown()).await);
}

struct Connection<'a> {
    stream: Box<dyn Stream>,
    session: Session<'a>,
    slot: Slot,
    /// The bytes that have been received but not yet processed.
    input: Vec<u8>,
    idle_timeout: Duration,
    phases: Phases,
}

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<()> {
        loop {
            let busy = Busy::new(&self.slot.state);
            let mut continues = self.answer_all().await?;
            let is_reply = !self.session.replies.bytes.is_empty();
            if is_reply && self.input.is_empty() && *self.phases.borrow() >= Phase::Closing {
                // The client receives the last reply and the end of the stream together. If the client checks the
                // connection before it sends its next command, no command is lost.
                self.stream.hold_until_shutdown();
                continues = false;
            }
            self.send().await?;
            drop(busy);
            if !continues || !self.read().await? {
                return Ok(());
            }
        }
    }

    /// Responds to the received commands. Returns `false` if the connection must end.
    async fn answer_all(&mut self) -> io::Result<bool> {
        let input = std::mem::take(&mut self.input);
        let mut at = 0;
        let mut continues = true;
        while continues {
            match parse(&input[at..]) {
                Ok(Some(request)) => {
                    at += request.length;
                    continues = self.session.answer(&request.words).await;
                    if self.session.is_admitted() {
                        self.slot.state.accept(Instant::now().into_std());
                    }
                    continues &= self.send_ids().await?;
                    if self.session.replies.bytes.len() >= MOST_BUFFERED {
                        self.send().await?;
                    }
                }
                Ok(None) => break,
                Err(malformed) => {
                    self.session.refuse(&malformed);
                    continues = false;
                }
            }
        }
        self.input = input;
        self.input.drain(..at);
        if self.input.is_empty() {
            // The buffer is freed to save memory, because thousands of connections may be idle.
            self.input = Vec::new();
        }
        Ok(continues)
    }

    /// Sends the buffered replies, and generates the remaining pieces of a response one at a time. Returns `false` if
    /// the connection must end.
    async fn send_ids(&mut self) -> io::Result<bool> {
        while self.session.has_more() {
            self.send().await?;
            // The task yields, because it could otherwise send megabytes before any other task runs.
            tokio::task::yield_now().await;
            if !self.session.next_piece().await {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn send(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.session.replies.bytes);
        if bytes.is_empty() {
            return Ok(());
        }
        let sent = async {
            self.stream.write_all(&bytes).await?;
            self.stream.flush().await
        };
        timeout(self.idle_timeout, sent).await?
    }

    /// Reads more commands. Returns `false` if the client has ended the connection or the server must end the
    /// connection.
    async fn read(&mut self) -> io::Result<bool> {
        let has_part = !self.input.is_empty();
        // The subtraction cannot overflow, because the parser leaves fewer than `LONGEST` bytes in the input.
        let room = READ.min(LONGEST - self.input.len());
        self.input.reserve(room);
        let mut buffer = (&mut self.input).limit(room);
        let overdue =
            async { if has_part { sleep(self.idle_timeout).await } else { pending().await } };
        // During a shutdown, the server waits for a pause between commands, because many Redis clients do not expect a
        // connection to end right after a reply. At the end of the drain, a connection without pauses ends after its
        // next reply.
        let paused = Instant::now() + PAUSE_BEFORE_END;
        let last = if has_part { Phase::Closing } else { Phase::Leaving };
        let pause_while_ending = async {
            reached(&mut self.phases, last).await;
            sleep_until(paused).await;
        };
        tokio::select! {
            // If a command arrives at the end of the pause, the server still replies.
            biased;
            () = self.slot.must_end(self.idle_timeout) => Ok(false),
            read = self.stream.read_buf(&mut buffer) => Ok(read? > 0),
            () = overdue => Ok(false),
            () = pause_while_ending => Ok(false),
        }
    }
}
