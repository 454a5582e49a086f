//! Leases of nodes from a broker. JavaScript sends the requests and sets the timers; the core's `FetchLease` makes all
//! decisions.

use std::time::Duration;

use flakeid::fetch::{FetchLease, FetchOptions, HttpAnswer};
use flakeid_core::{Error, Generator, Id, Layout};
use wasm_bindgen::prelude::*;

use crate::clock;
use crate::failure::thrown;
use crate::number::{Texts, instant};
use crate::register::{Buffer, Outcome, register};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]);
}

/// Returns the names and kinds of the lease options, in the form `name: kind, name: kind`.
#[wasm_bindgen(js_name = leaseOptions)]
#[must_use]
pub fn lease_options() -> String {
    FetchOptions::described()
}

/// Gives the core the current time and the host's source of random numbers.
fn meet(now: f64, moment: f64) {
    clock::set_time(now);
    flakeid::fetch::set_host_moment(milliseconds(moment));
    flakeid::fetch::set_host_random(random);
}

fn random() -> u128 {
    let mut bytes = [0; 16];
    get_random_values(&mut bytes);
    u128::from_ne_bytes(bytes)
}

fn milliseconds(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

fn in_milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// A wrapper of the core's `FetchLease`. A lease also has those methods of a `Generator` that
/// `node/lib/wasm.js` calls. The arguments `now` and `moment` are the results of `Date.now()` and
/// `performance.now()`.
#[wasm_bindgen]
pub struct Lease {
    core: FetchLease,
    outcome: Outcome,
}

impl Lease {
    /// Returns the next ID if the core can issue the ID at the time `now` without applying all rules.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    fn fast_id(&self, now: f64) -> Option<Id> {
        self.core.next_id_at(clock::whole(now))
    }

    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    #[expect(clippy::unused_self, reason = "the signature is the same for WebAssembly")]
    const fn fast_id(&self, _now: f64) -> Option<Id> {
        None
    }

    /// Generates an ID with all rules, after the fast path could not issue an ID.
    #[cold]
    #[inline(never)]
    fn next_slowly(&self, now: f64, next_id: fn(&Generator) -> Result<Id, Error>) -> bool {
        clock::set_time(now);
        self.outcome.register(self.core.run(next_id))
    }
}

/// An HTTP request that JavaScript must send.
#[wasm_bindgen]
pub struct LeaseRequest(flakeid::fetch::HttpRequest);

#[wasm_bindgen]
impl LeaseRequest {
    /// The method of the request: `POST`, `PATCH` or `DELETE`.
    #[must_use]
    pub fn method(&self) -> String {
        self.0.method.to_owned()
    }

    /// The URL of the request.
    #[must_use]
    pub fn url(&self) -> String {
        self.0.url.clone()
    }

    /// The value of the `Authorization` header, or undefined if the request omits the header.
    #[must_use]
    pub fn authorization(&self) -> Option<String> {
        self.0.authorization.clone()
    }

    /// The body of the request, as JSON.
    #[must_use]
    pub fn body(&self) -> String {
        String::from_utf8_lossy(&self.0.body).into_owned()
    }

    /// The time limit for the whole response, in milliseconds.
    #[must_use]
    pub fn timeout(&self) -> f64 {
        in_milliseconds(self.0.timeout)
    }
}

/// A lease event.
#[wasm_bindgen]
pub struct LeaseEvent(flakeid::LeaseEvent);

#[wasm_bindgen]
impl LeaseEvent {
    /// The kind of the event.
    #[must_use]
    pub fn kind(&self) -> String {
        self.0.kind().to_owned()
    }

    /// Returns the node, the start and the fence of the event, in this order. A value that the event does not have is
    /// undefined.
    #[must_use]
    pub fn numbers(&self) -> Vec<JsValue> {
        let numbers = [self.0.node(), self.0.start(), self.0.fence()];
        numbers.map(|number| number.map_or(JsValue::UNDEFINED, JsValue::from)).into()
    }

    /// The error of the event; undefined if the event has no error.
    #[must_use]
    pub fn error(&self) -> JsValue {
        self.0.error().cloned().map_or(JsValue::UNDEFINED, thrown)
    }
}

#[wasm_bindgen]
impl Lease {
    /// Opens a lease from the brokers at the given URL. The strings in `texts` have the order that the function
    /// `options` expects.
    ///
    /// # Errors
    /// The errors of the core's `FetchLease::open`.
    pub fn open(url: &str, texts: Vec<JsValue>, now: f64, moment: f64) -> Result<Self, JsValue> {
        meet(now, moment);
        let open = || {
            let texts = Texts::new(texts);
            let options = options(&texts)?;
            FetchLease::open(url, options)
        };
        open().map(|core| Self { core, outcome: Outcome::default() }).map_err(thrown)
    }

    /// Prepares the next request if a request is due.
    pub fn wake(&mut self, now: f64, moment: f64) {
        meet(now, moment);
        self.core.wake();
    }

    /// Returns the request that JavaScript must send now, or undefined if no request is due.
    pub fn request(&mut self, now: f64, moment: f64) -> Option<LeaseRequest> {
        meet(now, moment);
        self.core.request().map(LeaseRequest)
    }

    /// Handles the response to the latest request.
    pub fn answered(&mut self, status: u16, body: String, now: f64, moment: f64) {
        meet(now, moment);
        self.core.answered(Ok(HttpAnswer::new(status, body.into_bytes())));
    }

    /// Handles the failure of a request that got no response. `reason` is the error message.
    pub fn unanswered(&mut self, reason: String, now: f64, moment: f64) {
        meet(now, moment);
        self.core.answered(Err(reason));
    }

    /// Whether the lease has been closed and no request is left to send.
    #[wasm_bindgen(js_name = isEnded)]
    pub fn is_ended(&mut self) -> bool {
        self.core.is_ended()
    }

    /// Returns the time in milliseconds until JavaScript must call `wake`. If a call that issues IDs needs a window
    /// earlier, JavaScript calls `wake` earlier.
    pub fn rest(&mut self, now: f64, moment: f64) -> f64 {
        meet(now, moment);
        in_milliseconds(self.core.rest())
    }

    /// Returns the remaining time of the pause after a failure, in milliseconds. During the pause, JavaScript does not
    /// call `wake`, even if a call needs a window.
    #[must_use]
    pub fn pause(&self, now: f64, moment: f64) -> f64 {
        meet(now, moment);
        in_milliseconds(self.core.pause())
    }

    /// Closes the lease.
    pub fn close(&mut self) {
        self.core.close();
    }

    /// Whether the last call failed because the lease had no window.
    #[wasm_bindgen(js_name = lacksWindow)]
    #[must_use]
    pub fn lacks_window(&self) -> bool {
        self.core.lacks_window()
    }

    /// Returns the error that explains why the lease has no window.
    #[must_use]
    pub fn why(&self) -> JsValue {
        thrown(self.core.why())
    }

    /// Whether the latest error means that the lease cannot get a window within `left` milliseconds.
    #[wasm_bindgen(js_name = cannotSucceed)]
    #[must_use]
    pub fn cannot_succeed(&self, left: f64) -> bool {
        self.core.cannot_succeed(milliseconds(left))
    }

    /// Returns two numbers: the number of completed attempts to acquire a node or to renew its lease, and the number of
    /// grants and renewals that took effect.
    #[must_use]
    pub fn progress(&self) -> Vec<f64> {
        let (attempts, gains) = self.core.attempts_and_gains();
        vec![attempts as f64, gains as f64]
    }

    /// Returns two timeouts in milliseconds: the longest time that a call waits, and the longest time that opening the
    /// lease may take.
    #[must_use]
    pub fn timeouts(&self) -> Vec<f64> {
        vec![in_milliseconds(self.core.max_wait()), in_milliseconds(self.core.open_timeout())]
    }

    /// Removes and returns the oldest pending event.
    #[wasm_bindgen(js_name = nextEvent)]
    pub fn next_event(&mut self) -> Option<LeaseEvent> {
        self.core.next_event().map(LeaseEvent)
    }

    /// Returns, in this order, the first tick of the grant, the fence, and the numbers of renewals, grants and
    /// failures.
    #[must_use]
    pub fn numbers(&self) -> Vec<u64> {
        let status = self.core.status();
        vec![status.start, status.fence, status.renewals, status.grants, status.failures]
    }

    /// Returns three numbers. The first two are the time at which the fence begins and the time until which the node is
    /// reserved, in Unix milliseconds. The third number is 1 if the generator has lost the node, usually to another
    /// process, and can issue the node's IDs only until the fence. Otherwise, the third number is 0.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        let status = self.core.status();
        let fenced_off = f64::from(u8::from(status.fenced_off));
        vec![status.fence_unix_ms as f64, status.expires_unix_ms as f64, fenced_off]
    }

    /// The error of the latest attempt to acquire a node or to renew its lease; undefined if the attempt succeeded.
    #[wasm_bindgen(js_name = lastError)]
    #[must_use]
    pub fn last_error(&self) -> JsValue {
        self.core.status().last_error.clone().map_or(JsValue::UNDEFINED, thrown)
    }
}

/// The methods that a lease and a `Generator` have in common.
#[wasm_bindgen]
impl Lease {
    /// Writes the next ID to the register in the module's memory. Returns false if no ID could be issued.
    #[wasm_bindgen(js_name = nextId)]
    #[must_use]
    pub fn next_id(&self, now: f64) -> bool {
        match self.fast_id(now) {
            Some(id) => register(id),
            None => self.next_slowly(now, Generator::next_id),
        }
    }

    /// Writes the next ID to the register in the module's memory, and never waits. Returns false if no ID could be
    /// issued.
    #[wasm_bindgen(js_name = tryNextId)]
    #[must_use]
    pub fn try_next_id(&self, now: f64) -> bool {
        match self.fast_id(now) {
            Some(id) => register(id),
            None => self.next_slowly(now, Generator::try_next_id),
        }
    }

    /// Writes up to `count` IDs to the beginning of the buffer. Returns the number of IDs, or −1 on failure.
    #[must_use]
    pub fn fill(&self, buffer: &mut Buffer, count: usize, now: f64, waits: bool) -> i32 {
        clock::set_time(now);
        let ids = buffer.beginning(count);
        let fill = |generator: &Generator| {
            if waits { generator.fill(ids) } else { generator.try_fill(ids) }
        };
        self.outcome.count_or_failed(self.core.run(fill))
    }

    /// Returns the JavaScript error of the last call; undefined if that call did not fail.
    #[wasm_bindgen(js_name = takeFailure)]
    #[must_use]
    pub fn take_failure(&self) -> JsValue {
        self.outcome.take_failure()
    }

    /// Counts a wait that JavaScript performed for this generator.
    #[wasm_bindgen(js_name = countWait)]
    pub fn count_wait(&self) {
        self.outcome.count_wait();
    }

    /// Always fails, because a lease renews its window automatically.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_OPTION` for every call.
    pub fn extend(&self, _fence: &str) -> Result<(), JsValue> {
        Err(thrown(Error::invalid_option(
            "fence",
            "a leased generator cannot be extended, because it renews its window automatically",
        )))
    }

    /// Always fails, because a lease is closed rather than retired.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_OPTION` for every call.
    pub fn retire(&self) -> Result<Option<u64>, JsValue> {
        Err(thrown(Error::invalid_option(
            "node",
            "a leased generator cannot be retired; close it instead",
        )))
    }

    /// Returns the numbers of waits and of clock rollbacks, followed by the largest number of ticks by which an ID was
    /// ahead of the clock.
    #[must_use]
    pub fn stats(&self) -> Vec<u64> {
        let stats = self.core.stats();
        vec![stats.waits + self.outcome.waits(), stats.rollbacks, stats.largest_ahead]
    }

    /// The canonical descriptor of the generator's layout.
    #[must_use]
    pub fn layout(&self) -> String {
        self.core.layout().to_string()
    }

    /// The length of a tick, in milliseconds.
    #[wasm_bindgen(js_name = unitMs)]
    #[must_use]
    pub fn unit_ms(&self) -> f64 {
        self.core.layout().unit_ms() as f64
    }

    /// The node in the generator's IDs, or 0 before the first grant.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.core.node()
    }
}

/// Parses options. The first two strings are the layout and the epoch. The following strings come in pairs: the name
/// and the value of an option.
fn options(texts: &Texts) -> Result<FetchOptions, Error> {
    let mut layout: Option<Layout> = texts.get(0).map(|text| text.parse()).transpose()?;
    if let Some(epoch) = texts.get(1) {
        layout = Some(layout.unwrap_or_default().with_epoch(instant(&epoch))?);
    }
    let mut options = FetchOptions::new(layout);
    let mut index = 2;
    while let (Some(name), Some(text)) = (texts.get(index), texts.get(index + 1)) {
        options = options.with(&name, &text);
        index += 2;
    }
    Ok(options)
}
