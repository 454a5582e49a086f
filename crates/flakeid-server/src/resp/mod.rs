//! Connections of Redis clients. A client gets replies in the order of its commands. The server
//! reads no further commands while replies wait to be sent, so a client cannot send more commands
//! than it reads replies.
//!
//! Each connection buffers at most 204 KiB. These are 16 KiB of commands, a piece of 4,096 IDs as
//! numbers (twice 32 KiB) and as text (108 KiB), and 16 KiB of other replies.

mod commands;
mod reply;
mod request;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::BufMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::connection::{EndWatch, encrypted, ended};
use crate::listener::Stream;
use crate::service::Service;
use crate::tls::TlsSettings;
use commands::Session;
use request::{LONGEST, parse};

/// The number of bytes of replies that are buffered before they are sent.
const MOST_BUFFERED: usize = 16 * 1_024;

/// The number of bytes that one read can return.
const READ: usize = 4_096;

/// The factor by which the idle timeout is longer for a client that may request IDs. Redis clients
/// keep pools of connections, and many treat a closed one as an error.
const IDLE_FACTOR: u32 = 10;

/// Serves a connection until its client, the server or a timeout ends it.
pub(crate) async fn serve(
    stream: Box<dyn Stream>,
    peer: Option<IpAddr>,
    tls: Option<TlsSettings>,
    service: Arc<Service>,
    mut is_ending: EndWatch,
    idle_timeout: Duration,
) {
    let Some(stream) = encrypted(stream, tls, &mut is_ending, idle_timeout).await else { return };
    let session = Session::new(&service, peer);
    let mut connection = Connection { stream, session, input: Vec::new(), idle_timeout, is_ending };
    // Errors are ignored, because the client may close the connection at any time.
    drop(connection.run().await);
    drop(timeout(idle_timeout, connection.stream.shutdown()).await);
}

struct Connection<'a> {
    stream: Box<dyn Stream>,
    session: Session<'a>,
    /// The received bytes that have not been processed.
    input: Vec<u8>,
    idle_timeout: Duration,
    is_ending: EndWatch,
}

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<()> {
        loop {
            let continues = self.answer_all().await?;
            self.send().await?;
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
            // Freeing the buffer saves memory, because thousands of connections may be idle.
            self.input = Vec::new();
        }
        Ok(continues)
    }

    /// Sends the pieces of a response after the first, each after the client has taken the previous
    /// ones.
    async fn send_ids(&mut self) -> io::Result<bool> {
        while self.session.has_more() {
            self.send().await?;
            // A socket accepts megabytes at a time, and other tasks should run in between.
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

    /// Reads more commands. Returns `false` if the client or the server has ended the connection.
    async fn read(&mut self) -> io::Result<bool> {
        let is_silent = self.input.is_empty() && self.session.is_admitted();
        let limit = if is_silent { self.idle_timeout * IDLE_FACTOR } else { self.idle_timeout };
        // The input is shorter than the longest command. Otherwise it would have been processed.
        let room = READ.min(LONGEST - self.input.len());
        self.input.reserve(room);
        let mut buffer = (&mut self.input).limit(room);
        tokio::select! {
            read = timeout(limit, self.stream.read_buf(&mut buffer)) => Ok(read?? > 0),
            () = ended(&mut self.is_ending) => Ok(false),
        }
    }
}
