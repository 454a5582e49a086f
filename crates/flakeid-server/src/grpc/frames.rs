//! A limit on the rate of HTTP/2 control frames. The server must process every control frame, so without the limit, a
//! client could keep the server busy without ever sending a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, ReadBuf};

use crate::connections::State;

/// The length of a frame's header in bytes (RFC 9113, section 4.1).
const HEADER: usize = 9;
/// The maximum number of control frames that a client may send in one burst.
const BURST: u32 = 1_000;
/// The time after which a client may send one more control frame. Clients that measure the connection's latency send a
/// few PING frames per second.
const INTERVAL: Duration = Duration::from_millis(10);

/// A counter of the control frames in a byte stream.
#[derive(Debug)]
struct Frames {
    /// The part of the current frame's header that has been received.
    header: [u8; HEADER],
    received: usize,
    /// The number of bytes of the current frame's payload that have not been received yet.
    payload: usize,
    /// The number of control frames that the client may send now.
    allowed: u32,
    /// The time at which `allowed` was last refilled.
    counted: Instant,
}

impl Frames {
    const fn new(now: Instant) -> Self {
        Self { header: [0; HEADER], received: 0, payload: 0, allowed: BURST, counted: now }
    }

    /// Counts the control frames in the bytes that a client has sent. Returns `false` if the client has sent too many
    /// control frames.
    fn read(&mut self, mut bytes: &[u8], now: Instant) -> bool {
        while !bytes.is_empty() {
            let skipped = self.payload.min(bytes.len());
            self.payload -= skipped;
            bytes = &bytes[skipped..];
            let wanted = (HEADER - self.received).min(bytes.len());
            self.header[self.received..][..wanted].copy_from_slice(&bytes[..wanted]);
            self.received += wanted;
            bytes = &bytes[wanted..];
            if self.received < HEADER {
                continue;
            }
            self.received = 0;
            let [high, middle, low, kind, ..] = self.header;
            self.payload = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
            if !is_counted(kind) {
                continue;
            }
            self.refill(now);
            if self.allowed == 0 {
                return false;
            }
            self.allowed -= 1;
        }
        true
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.counted).as_nanos() / INTERVAL.as_nanos();
        let more = u32::try_from(passed).unwrap_or(u32::MAX);
        if more > 0 {
            self.allowed = self.allowed.saturating_add(more).min(BURST);
            self.counted = now;
        }
    }
}

/// Whether frames of the given type are counted. DATA, HEADERS and WINDOW_UPDATE frames belong to requests, which have
/// their own limits. The hyper library limits the rate of RST_STREAM frames.
#[expect(clippy::doc_markdown, reason = "RFC 9113 spells the names of frames this way")]
const fn is_counted(kind: u8) -> bool {
    !matches!(kind, 0 | 1 | 3 | 8)
}

/// A stream that ends its connection if the client sends too many control frames.
pub(super) struct Limited<S> {
    stream: S,
    frames: Frames,
    state: Arc<State>,
    is_blocked: bool,
}

impl<S> Limited<S> {
    pub(super) fn new(stream: S, state: &Arc<State>) -> Self {
        let (frames, state) = (Frames::new(Instant::now()), Arc::clone(state));
        Self { stream, frames, state, is_blocked: false }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Limited<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.is_blocked {
            // The connection ends after it has sent its last frame, so further input does not need to wake this task.
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        if !this.frames.read(&buffer.filled()[before..], Instant::now()) {
            this.is_blocked = true;
            this.state.end();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let [.., high, middle, low] = payload.to_be_bytes();
        [&[high, middle, low, kind, 0, 0, 0, 0, 0][..], &vec![kind; payload]].concat()
    }

    #[test]
    fn control_frames_are_counted_even_if_split_across_reads() {
        let sent: Vec<u8> =
            (0..BURST).flat_map(|_| [frame(6, 8), frame(0, 300), frame(1, 40)]).flatten().collect();
        let start = Instant::now();
        for size in [1, 7, 9, 10, 1_000, sent.len()] {
            let mut frames = Frames::new(start);
            assert!(sent.chunks(size).all(|part| frames.read(part, start)), "{size}");
            assert!(frames.read(&frame(0, 5), start), "other frames stay allowed");
            assert!(!frames.read(&frame(4, 0), start), "{size}");
        }
    }

    #[test]
    fn control_frames_are_allowed_again_as_time_passes() {
        let start = Instant::now();
        let mut frames = Frames::new(start);
        let ping = frame(6, 8);
        assert!((0..BURST).all(|_| frames.read(&ping, start)));
        let later = start + INTERVAL * 3;
        assert!((0..3).all(|_| frames.read(&ping, later)));
        assert!(!frames.read(&ping, later));
        // A client that sends 50 frames per second never reaches the limit.
        let mut frames = Frames::new(start);
        assert!((0..10_000).all(|number| frames.read(&ping, start + INTERVAL * 2 * number)));
    }
}
