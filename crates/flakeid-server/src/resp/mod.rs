//! Connections of Redis clients. A client gets its replies in the order of its commands, and sends no
//! more of them than it takes replies: nothing is read while replies wait to be sent.
//!
//! Each connection keeps at most 16 KiB of commands, and of replies a piece of 4,096 IDs, as numbers (twice
//! 32 KiB) and as text (108 KiB), and 16 KiB besides: 204 KiB.

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

/// How many bytes of replies are kept until they are sent.
const MOST_KEPT: usize = 16 * 1_024;

/// How much room there is for one read.
const READ: usize = 4_096;

/// For how many idle timeouts a client that may ask for IDs can be silent. Clients of Redis keep pools
/// of connections, and many take one that has ended for an error.
const SILENT: u32 = 10;

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
    // How it ends is the client's business: it may leave at any time.
    drop(connection.run().await);
    drop(timeout(idle_timeout, connection.stream.shutdown()).await);
}

struct Connection<'a> {
    stream: Box<dyn Stream>,
    session: Session<'a>,
    /// What was sent and not yet answered.
    input: Vec<u8>,
    idle_timeout: Duration,
    is_ending: EndWatch,
}

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<()> {
        loop {
            let goes_on = self.answer_all().await?;
            self.send().await?;
            if !goes_on || !self.read().await? {
                return Ok(());
            }
        }
    }

    /// Answers the commands that are there; false if the connection is to end.
    async fn answer_all(&mut self) -> io::Result<bool> {
        let input = std::mem::take(&mut self.input);
        let mut at = 0;
        let mut goes_on = true;
        while goes_on {
            match parse(&input[at..]) {
                Ok(Some(request)) => {
                    at += request.length;
                    goes_on = self.session.answer(&request.words).await;
                    goes_on &= self.send_ids().await?;
                    if self.session.replies.bytes.len() >= MOST_KEPT {
                        self.send().await?;
                    }
                }
                Ok(None) => break,
                Err(malformed) => {
                    self.session.refuse(&malformed);
                    goes_on = false;
                }
            }
        }
        self.input = input;
        self.input.drain(..at);
        if self.input.is_empty() {
            // Thousands of idle connections need no memory for what they sent once.
            self.input = Vec::new();
        }
        Ok(goes_on)
    }

    /// The pieces of an answer after its first, each when the client has taken those before it.
    async fn send_ids(&mut self) -> io::Result<bool> {
        while self.session.has_more() {
            self.send().await?;
            // A socket takes megabytes at a time, and others are to have the thread in between.
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

    /// Reads more; false if there is nothing more to serve.
    async fn read(&mut self) -> io::Result<bool> {
        let is_silent = self.input.is_empty() && self.session.is_admitted();
        let limit = if is_silent { self.idle_timeout * SILENT } else { self.idle_timeout };
        // Less than the longest command, or it would have been answered.
        let room = READ.min(LONGEST - self.input.len());
        self.input.reserve(room);
        let mut buffer = (&mut self.input).limit(room);
        tokio::select! {
            read = timeout(limit, self.stream.read_buf(&mut buffer)) => Ok(read?? > 0),
            () = ended(&mut self.is_ending) => Ok(false),
        }
    }
}
