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
/// The length of the payload of a `WINDOW_UPDATE` frame, which contains the increment (RFC 9113, section 6.9).
const INCREMENT: usize = 4;
/// The types of frames (RFC 9113, section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const WINDOW_UPDATE: u8 = 8;
/// The maximum number of control frames that a client may send in one burst.
const BURST: u32 = 1_000;
/// The interval at which a client is allowed one more control frame. Clients that measure the connection's latency need
/// only a few PING frames per second.
const INTERVAL: Duration = Duration::from_millis(10);
/// The number of `WINDOW_UPDATE` frames per call that do not count as control frames. A simple client acknowledges
/// every DATA frame with two `WINDOW_UPDATE` frames, one for the stream and one for the connection.
const UPDATES_PER_CALL: u32 = 4;
/// The number of acknowledged bytes for which one `WINDOW_UPDATE` frame does not count as a control frame.
const BYTES_PER_UPDATE: u32 = 1_024;

/// A counter of the control frames in a byte stream.
#[derive(Debug)]
struct Frames {
    /// The bytes of the current frame's header that have been received. For a `WINDOW_UPDATE` frame, this array also
    /// contains the increment.
    header: [u8; HEADER + INCREMENT],
    received: usize,
    /// The number of bytes of the current frame's payload that are still to be received. Bytes that are stored in
    /// `header` do not count.
    payload: usize,
    /// The number of control frames that the client may send now.
    allowed: u32,
    /// The number of `WINDOW_UPDATE` frames that the client may send before they count as control frames.
    updates: u32,
    /// The time at which `allowed` was last refilled.
    counted: Instant,
}

impl Frames {
    const fn new(now: Instant) -> Self {
        let header = [0; HEADER + INCREMENT];
        Self { header, received: 0, payload: 0, allowed: BURST, updates: 0, counted: now }
    }

    /// Counts the control frames in the bytes that a client has sent. Returns `false` if the client has sent too many
    /// control frames.
    fn read(&mut self, mut bytes: &[u8], now: Instant) -> bool {
        while !bytes.is_empty() {
            let skipped = self.payload.min(bytes.len());
            self.payload -= skipped;
            bytes = &bytes[skipped..];
            let wanted = (self.needed() - self.received).min(bytes.len());
            self.header[self.received..][..wanted].copy_from_slice(&bytes[..wanted]);
            self.received += wanted;
            bytes = &bytes[wanted..];
            let needed = self.needed();
            if self.received < needed {
                continue;
            }
            self.received = 0;
            self.payload = self.length() - (needed - HEADER);
            if self.is_free() {
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

    /// The length of the current frame's payload in bytes.
    fn length(&self) -> usize {
        let [high, middle, low, ..] = self.header;
        usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low)
    }

    /// The number of bytes that `header` must contain before the frame can be counted.
    fn needed(&self) -> usize {
        let is_update = self.header[3] == WINDOW_UPDATE && self.length() == INCREMENT;
        if self.received >= HEADER && is_update { HEADER + INCREMENT } else { HEADER }
    }

    /// Whether the current frame does not count as a control frame. DATA and HEADERS frames belong to requests, which
    /// have their own limits, and the hyper library limits the rate of `RST_STREAM` frames. `WINDOW_UPDATE` frames do
    /// not count either, unless the client sends more of them than its calls and the acknowledged bytes allow.
    fn is_free(&mut self) -> bool {
        match self.header[3] {
            DATA | RST_STREAM => true,
            HEADERS => {
                self.updates = (self.updates + UPDATES_PER_CALL).min(BURST);
                true
            }
            WINDOW_UPDATE if self.length() == INCREMENT => {
                let [.., first, second, third, fourth] = self.header;
                let increment = u32::from_be_bytes([first, second, third, fourth]);
                self.updates = (self.updates + increment / BYTES_PER_UPDATE).min(BURST);
                let is_paid = self.updates > 0;
                self.updates = self.updates.saturating_sub(1);
                is_paid
            }
            _ => false,
        }
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
            assert!(frames.read(&frame(0, 5), start), "other frames stay allowed: {size}");
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

    fn update(increment: u32) -> Vec<u8> {
        let mut update = frame(WINDOW_UPDATE, INCREMENT);
        update[HEADER..].copy_from_slice(&increment.to_be_bytes());
        update
    }

    #[test]
    fn small_window_updates_are_limited_if_no_call_and_no_data_pays_for_them() {
        let start = Instant::now();
        let flood = update(1).repeat(BURST as usize);
        for size in [1, 8, 10, 13, flood.len()] {
            let mut frames = Frames::new(start);
            assert!(frames.read(&frame(HEADERS, 40), start));
            assert!(flood.chunks(size).all(|part| frames.read(part, start)), "{size}");
            assert!(frames.read(&update(1).repeat(UPDATES_PER_CALL as usize), start), "{size}");
            assert!(!frames.read(&update(1), start), "{size}");
        }
        // The large increments in this flood must not make the counter of free updates overflow.
        let mut frames = Frames::new(start);
        assert!(frames.read(&update(u32::MAX).repeat(10), start));
    }

    #[test]
    fn clients_may_acknowledge_every_data_frame_twice() {
        let start = Instant::now();
        let mut frames = Frames::new(start);
        let short_call = [frame(HEADERS, 40), update(20), update(20)].concat();
        assert!(frames.read(&short_call.repeat(10_000), start));
        // These updates acknowledge a response with many messages. Each message consists of two full DATA frames and a
        // short DATA frame.
        let message = [update(16_384).repeat(4), update(100).repeat(2)].concat();
        assert!(frames.read(&message.repeat(10_000), start));
    }
}
