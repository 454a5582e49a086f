//! A node that is leased from a broker. JavaScript sends the requests and sets the timers; `FetchLease`
//! makes all decisions.

use std::time::Duration;

use flakeid::fetch::{FetchLease, FetchOptions, HttpAnswer};
use flakeid_core::{Error, Layout};
use wasm_bindgen::prelude::*;

use crate::clock;
use crate::failure::thrown;
use crate::number::{Texts, instant};
use crate::register::{Buffer, Outcome};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]);
}

/// Returns the names and kinds of the lease options, as `name: kind, name: kind`.
#[wasm_bindgen(js_name = leaseOptions)]
#[must_use]
pub fn lease_options() -> String {
    FetchOptions::described()
}

/// Passes the host's time and random numbers to the core.
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

/// The core's `FetchLease`. It has the methods of a `Generator` that `node/wasm/lib/backend.js` calls. `now` is what
/// `Date.now()` returned, and `moment` is what `performance.now()` returned.
#[wasm_bindgen]
pub struct Lease {
    core: FetchLease,
    outcome: Outcome,
}

/// A request that JavaScript has to send.
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

    /// The value of the `Authorization` header.
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

    /// Returns, in this order: node, start, fence; undefined for the values that the event does not have.
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
    /// Opens a lease from the brokers at a URL. The strings have the same order as the strings of `options`.
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

    /// Updates the lease after time has passed.
    pub fn wake(&mut self, now: f64, moment: f64) {
        meet(now, moment);
        self.core.wake();
    }

    /// Returns the request to send now, if there is one.
    pub fn request(&mut self, now: f64, moment: f64) -> Option<LeaseRequest> {
        meet(now, moment);
        self.core.request().map(LeaseRequest)
    }

    /// Handles a response.
    pub fn answered(&mut self, status: u16, body: String, now: f64, moment: f64) {
        meet(now, moment);
        self.core.answered(Ok(HttpAnswer::new(status, body.into_bytes())));
    }

    /// Handles a request that got no response, for the given reason.
    pub fn unanswered(&mut self, reason: String, now: f64, moment: f64) {
        meet(now, moment);
        self.core.answered(Err(reason));
    }

    /// Whether the lease has been closed and no request is left to send.
    #[wasm_bindgen(js_name = isEnded)]
    pub fn is_ended(&mut self) -> bool {
        self.core.is_ended()
    }

    /// Returns the time until the next request is due, in milliseconds, if no call needs a window earlier.
    pub fn rest(&mut self, now: f64, moment: f64) -> f64 {
        meet(now, moment);
        in_milliseconds(self.core.rest())
    }

    /// Returns the time to wait after a failure, in milliseconds. The wait applies even if calls need a window.
    #[must_use]
    pub fn pause(&self, now: f64, moment: f64) -> f64 {
        meet(now, moment);
        in_milliseconds(self.core.pause())
    }

    /// Ends the lease.
    pub fn close(&mut self) {
        self.core.close();
    }

    /// Whether the last call failed because there was no window.
    #[wasm_bindgen(js_name = lacksWindow)]
    #[must_use]
    pub fn lacks_window(&self) -> bool {
        self.core.lacks_window()
    }

    /// Returns the reason why there is no window.
    #[must_use]
    pub fn why(&self) -> JsValue {
        thrown(self.core.why())
    }

    /// Whether waiting for the given number of milliseconds cannot succeed.
    #[wasm_bindgen(js_name = cannotSucceed)]
    #[must_use]
    pub fn cannot_succeed(&self, left: f64) -> bool {
        self.core.cannot_succeed(milliseconds(left))
    }

    /// Returns, in this order: the number of attempts that have ended, and the number of attempts that took effect.
    #[must_use]
    pub fn progress(&self) -> Vec<f64> {
        let (attempts, gains) = self.core.attempts_and_gains();
        vec![attempts as f64, gains as f64]
    }

    /// Returns, in this order: the longest wait of a call, and the longest wait of opening a lease, in milliseconds.
    #[must_use]
    pub fn timeouts(&self) -> Vec<f64> {
        vec![in_milliseconds(self.core.max_wait()), in_milliseconds(self.core.open_timeout())]
    }

    /// Returns the next event.
    #[wasm_bindgen(js_name = nextEvent)]
    pub fn next_event(&mut self) -> Option<LeaseEvent> {
        self.core.next_event().map(LeaseEvent)
    }

    /// Returns, in this order: start, fence, renewals, grants, failures.
    #[must_use]
    pub fn numbers(&self) -> Vec<u64> {
        let status = self.core.status();
        vec![status.start, status.fence, status.renewals, status.grants, status.failures]
    }

    /// Returns, in this order: the beginning of the fence and the expiry of the row, in Unix milliseconds,
    /// and 1 if the node was lost.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        let status = self.core.status();
        let fenced_off = f64::from(u8::from(status.fenced_off));
        vec![status.fence_unix_ms as f64, status.expires_unix_ms as f64, fenced_off]
    }

    /// The error of the latest attempt; undefined if the attempt succeeded.
    #[wasm_bindgen(js_name = lastError)]
    #[must_use]
    pub fn last_error(&self) -> JsValue {
        self.core.status().last_error.clone().map_or(JsValue::UNDEFINED, thrown)
    }
}

/// The methods that a lease and a `Generator` have in common.
#[wasm_bindgen]
impl Lease {
    /// Writes the next ID to the register. Returns false if no ID could be issued.
    #[wasm_bindgen(js_name = nextId)]
    #[must_use]
    pub fn next_id(&self, now: f64) -> bool {
        clock::set_time(now);
        self.outcome.register(self.core.run(flakeid_core::Generator::next_id))
    }

    /// Writes the next ID to the register, and never waits.
    #[wasm_bindgen(js_name = tryNextId)]
    #[must_use]
    pub fn try_next_id(&self, now: f64) -> bool {
        clock::set_time(now);
        self.outcome.register(self.core.run(flakeid_core::Generator::try_next_id))
    }

    /// Fills the buffer from its beginning. Returns the number of IDs, or −1 on failure.
    #[must_use]
    pub fn fill(&self, buffer: &mut Buffer, count: usize, now: f64, waits: bool) -> i32 {
        clock::set_time(now);
        let ids = buffer.beginning(count);
        let fill = |generator: &flakeid_core::Generator| {
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

    /// Counts a wait that JavaScript did for this generator.
    #[wasm_bindgen(js_name = countWait)]
    pub fn count_wait(&self) {
        self.outcome.count_wait();
    }

    /// Fails, because a lease renews its window automatically.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_OPTION` for every call.
    pub fn extend(&self, _fence: &str) -> Result<(), JsValue> {
        Err(thrown(Error::invalid_option(
            "fence",
            "a leased generator renews its window automatically",
        )))
    }

    /// Fails, because a lease is closed rather than retired.
    ///
    /// # Errors
    /// `FLAKEID_INVALID_OPTION` for every call.
    pub fn retire(&self) -> Result<Option<u64>, JsValue> {
        Err(thrown(Error::invalid_option(
            "node",
            "a leased generator cannot be retired; close it instead",
        )))
    }

    /// Returns, in this order: waits, rollbacks, largest distance ahead of the clock in ticks.
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

    /// The node in the generator's IDs.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.core.node()
    }
}

/// Parses options. The first two strings are the layout and the epoch, and the others are a name, its
/// value, the next name and so on.
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
