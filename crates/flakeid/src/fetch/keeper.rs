//! What the holder of a lease does next, and what comes of it: the decisions of the keeper's thread,
//! for a host that has none.

use std::collections::VecDeque;
use std::time::Duration;

use flakeid_core::{Clock, Error, Generator, Layout, SystemClock, Window};

use super::host;
use flakeid_protocol::http::{Brokers, Demand, Exchange, HttpAnswer, HttpRequest, Reply};
use flakeid_protocol::keeper::{LeaseEvent, LeaseOptions, LeaseStatus, RenewalSchedule};
use flakeid_protocol::random::jitter;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{
    Acquire, Effect, Event, Grant, Holder, HolderOptions, Owner, Refusal, Token,
};

/// Holds a node. At most one request is on its way at a time.
pub(super) struct FetchKeeper {
    pub(super) options: LeaseOptions,
    /// Whether IDs must have the layout of `options`, or that of the namespace.
    is_of_layout: bool,
    /// What errors call the brokers.
    place: String,
    brokers: Brokers,
    holder: Holder,
    pub(super) holder_options: HolderOptions,
    pub(super) schedule: RenewalSchedule,
    /// The latest grant, with the fence that was confirmed last.
    grant: Option<Grant>,
    /// The present grant's, or that of the last one.
    pub(super) generator: Option<Generator>,
    /// The tick after the last one used by a generator that has ended.
    used_until: u64,
    /// The request on its way, and when its clock was read.
    exchange: Option<(Exchange, Duration)>,
    /// Whether the clock was the reason why no generator could be made in the granted window.
    is_waiting_for_clock: bool,
    is_lost: bool,
    pub(super) status: LeaseStatus,
    pub(super) events: VecDeque<LeaseEvent>,
    /// How many attempts have ended, successful or not.
    pub(super) attempts: u64,
    /// How many grants and renewals have taken effect.
    pub(super) gains: u64,
}

impl FetchKeeper {
    pub(super) fn new(
        options: LeaseOptions,
        is_of_layout: bool,
        place: String,
        brokers: Brokers,
    ) -> Self {
        let holder_options = holder_options(&options);
        let schedule = RenewalSchedule::new(
            options.window_ms,
            options.ttl_ms,
            host::now(),
            jitter(host::random()),
        );
        Self {
            options,
            is_of_layout,
            place,
            brokers,
            holder: Holder::new(),
            holder_options,
            schedule,
            grant: None,
            generator: None,
            used_until: 0,
            exchange: None,
            is_waiting_for_clock: false,
            is_lost: false,
            status: LeaseStatus::default(),
            events: VecDeque::new(),
            attempts: 0,
            gains: 0,
        }
    }

    /// The options of the namespace's layout, for a lease that was opened without one.
    pub(super) fn adopt(&mut self, options: LeaseOptions) {
        self.holder_options = holder_options(&options);
        self.options = options;
        self.is_of_layout = true;
    }

    /// Whether a grant would have to be of the layout of the options.
    pub(super) const fn is_of_layout(&self) -> bool {
        self.is_of_layout
    }

    /// Time has passed, or the user is done.
    pub(super) fn wake(&mut self, is_closing: bool) {
        if self.exchange.is_some() {
            return;
        }
        if is_closing {
            self.follow(Event::Close);
            return;
        }
        if self.is_waiting_for_clock
            && let Some(event) = self.begin()
        {
            self.follow(event);
        }
        if self.exchange.is_none() {
            let unix_ms = SystemClock.unix_ms();
            let now = self.options.layout.tick_at(unix_ms).unwrap_or(0);
            let margin = self.schedule.margin(self.holder_options.window, host::now());
            let reserve = self.schedule.reserve(self.holder_options.window);
            let (next, fresh) = (self.next_tick(), Token::from_bits(host::random()));
            self.follow(Event::Wake { now, unix_ms, next, margin, reserve, fresh });
        }
    }

    /// What to send now.
    pub(super) fn request(&self) -> Option<Result<HttpRequest, Fault>> {
        let (exchange, read) = self.exchange.as_ref()?;
        Some(exchange.request(&self.brokers, host::now().saturating_sub(*read)))
    }

    /// What came of a request. The layout of a grant, where none was asked for, needs `adopt` before
    /// anything else: it is returned with the reply, which goes to `replied`.
    pub(super) fn answered(
        &mut self,
        answer: Result<HttpAnswer, String>,
    ) -> Option<(Demand, Result<Reply, Fault>)> {
        let (exchange, _) = self.exchange.as_mut()?;
        let reply = exchange.answered(&mut self.brokers, answer)?;
        let (exchange, _) = self.exchange.take()?;
        Some((exchange.into_demand(), reply))
    }

    /// The end of a demand.
    pub(super) fn replied(&mut self, demand: &Demand, reply: Result<Reply, Fault>) {
        let event = match (demand, reply) {
            (Demand::Acquire { .. }, Ok(Reply::Granted(grant, _))) => {
                Event::Granted { grant, next: self.next_tick() }
            }
            (Demand::Acquire { request, instead_of, .. }, reply) => {
                if let Err(fault) = reply {
                    self.not_granted(&fault, *instead_of);
                }
                Event::NotGranted { token: request.token }
            }
            (Demand::Renew(renew), Ok(Reply::Renewed(answer))) => {
                Event::Renewed { next: renew.next, answer }
            }
            (Demand::Renew(renew), Err(Fault::Refused(refusal))) => {
                self.refused(renew.node, &refusal);
                Event::NotRenewed { next: renew.next, refusal }
            }
            (Demand::Renew(renew), reply) => {
                if let Err(fault) = reply {
                    self.fault(&fault);
                }
                Event::Unanswered { next: renew.next }
            }
            (Demand::Release(release), Ok(_)) => {
                self.events.push_back(LeaseEvent::Released { node: release.node });
                return;
            }
            // The row expires; nothing else depends on this.
            (Demand::Release(_), Err(fault)) => {
                // Otherwise the lease goes on with another node.
                if self.holder.closing {
                    self.fault(&fault);
                }
                return;
            }
        };
        self.follow(event);
    }

    /// How far the clock and the next ID have come.
    pub(super) fn reached(&self) -> u64 {
        let now = self.options.layout.tick_at(SystemClock.unix_ms()).unwrap_or(0);
        now.max(self.next_tick())
    }

    pub(super) const fn holder(&self) -> &Holder {
        &self.holder
    }

    fn not_granted(&mut self, fault: &Fault, instead_of: Option<u64>) {
        if instead_of.is_none() {
            self.fault(fault);
            return;
        }
        // The lease is as it was: how its own node fares is what counts.
        self.schedule.failed(None, host::now());
        if let Fault::Refused(_) = fault {
            let error = self.error(fault);
            self.events.push_back(LeaseEvent::Refused { error });
        }
    }

    fn refused(&mut self, node: u64, refusal: &Refusal) {
        let error = self.fault(&Fault::Refused(refusal.clone()));
        if matches!(refusal, Refusal::FencedOff | Refusal::Restored { .. }) {
            self.status.fenced_off = true;
            self.events.push_back(LeaseEvent::FencedOff { node, error });
            // Another node is asked for at once.
            self.schedule.hurry();
        }
    }

    /// The tick of the next ID. If there is no generator, the tick in which the next one begins.
    fn next_tick(&self) -> u64 {
        let next = self.generator.as_ref().and_then(Generator::next_tick);
        next.or_else(|| self.window_start()).unwrap_or(0)
    }

    fn window_start(&self) -> Option<u64> {
        self.grant.map(|grant| grant.start.max(self.used_until))
    }

    /// Passes an event to the holder, carries out the effects, and passes the resulting events back.
    fn follow(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let (next, effects) = self.holder.step(&self.holder_options, &event);
            self.holder = next;
            if matches!(event, Event::Unusable { .. }) {
                // It is given back.
                self.grant = None;
            }
            for effect in effects {
                events.extend(self.act(&effect));
            }
        }
    }

    fn act(&mut self, effect: &Effect) -> Option<Event> {
        match *effect {
            Effect::Acquire { token, instead_of } => match self.acquire(token) {
                Ok(request) => {
                    let is_of_layout = self.is_of_layout;
                    let is_sent = self.send(Demand::Acquire { request, is_of_layout, instead_of });
                    (!is_sent).then_some(Event::NotGranted { token })
                }
                Err(error) => {
                    self.failed(&error, None);
                    Some(Event::NotGranted { token })
                }
            },
            Effect::Renew(renew) => {
                let is_sent = self.send(Demand::Renew(renew));
                (!is_sent).then_some(Event::Unanswered { next: renew.next })
            }
            Effect::Release(release) => {
                self.send(Demand::Release(release));
                None
            }
            Effect::Install(grant) => {
                self.end();
                self.limit_to(&grant);
                self.grant = Some(grant);
                self.schedule.succeeded(host::now(), jitter(host::random()));
                self.begin()
            }
            Effect::Raise { fence, expires, node } => self.raise(node, fence, expires),
            Effect::End => Some(Event::Ended { used_until: self.end() }),
        }
    }

    /// Begins to send a demand; `false` if there is no broker to ask.
    fn send(&mut self, demand: Demand) -> bool {
        let exchange = Exchange::new(&self.brokers, &self.options.namespace, demand);
        self.exchange = exchange.map(|exchange| (exchange, host::now()));
        self.exchange.is_some()
    }

    fn acquire(&self, token: Token) -> Result<Acquire, Error> {
        let options = &self.options;
        let now = SystemClock.unix_ms();
        options.layout.tick_at(now)?;
        let name = match &options.identity {
            flakeid_protocol::Identity::Name(name) => name.clone(),
            _ => String::new(),
        };
        Ok(Acquire {
            layout: options.layout,
            identity: options.identity.clone(),
            from: options.from,
            to: options.to,
            rotation: options.rotation,
            block_bits: 0,
            reuse: options.reuse,
            token,
            window_ms: options.window_ms,
            ttl_ms: options.ttl_ms,
            now,
            waited_ms: 0,
            after: self.generator.as_ref().map_or(0, |generator| match generator.next_tick() {
                Some(tick) => tick + 1,
                None => self.used_until,
            }),
            owner: Owner { name, host: String::new(), pid: 0 },
        })
    }

    /// Wishes for more than a broker grants would be in vain, and come again and again.
    fn limit_to(&mut self, grant: &Grant) {
        let options = &self.options;
        let window_ms = options.window_ms.min(grant.max_window_ms);
        self.holder_options.window = window_ms.div_ceil(options.layout.unit_ms());
        let left = grant.expires.saturating_sub(SystemClock.unix_ms());
        self.schedule.set(window_ms, left, options.ttl_ms);
    }

    /// Lets the generator issue up to the fence. If there is none yet, begins one.
    fn raise(&mut self, node: u64, fence: u64, expires: i64) -> Option<Event> {
        if let Some(grant) = &mut self.grant {
            grant.fence = fence;
        }
        let extended = self.generator.as_ref().is_some_and(|made| made.extend(fence).is_ok());
        self.status.renewals += 1;
        self.status.fence = self.status.fence.max(fence);
        self.status.expires_unix_ms = expires;
        self.succeeded(extended);
        self.events.push_back(LeaseEvent::Renewed { node, fence });
        if extended { None } else { self.begin() }
    }

    /// Begins a generator in the granted window, above the last tick of the one before.
    fn begin(&mut self) -> Option<Event> {
        self.is_waiting_for_clock = false;
        let (grant, start) = (self.grant?, self.window_start()?);
        if grant.fence.saturating_sub(start) < Window::SHORTEST {
            self.schedule.hurry();
            return Some(Event::Unusable { used_until: self.used_until });
        }
        let generator = match generator(&self.options, &grant, start) {
            Ok(generator) => generator,
            Err(error) => {
                // All options were checked when the lease was opened, so the clock is the reason. It
                // may be corrected, so the node is kept.
                self.is_waiting_for_clock = true;
                self.failed(&error, None);
                return None;
            }
        };
        self.generator = Some(generator);
        self.status.start = start;
        self.status.fence = grant.fence;
        self.status.expires_unix_ms = grant.expires;
        self.status.grants += 1;
        self.status.fenced_off = false;
        self.succeeded(true);
        let (node, fence) = (grant.node, grant.fence);
        self.events.push_back(LeaseEvent::Acquired { node, start, fence });
        None
    }

    /// Retires the present generator. Returns the tick after the last one used.
    fn end(&mut self) -> u64 {
        if let Some(Ok(Some(last))) = self.generator.as_ref().map(Generator::retire) {
            self.used_until = self.used_until.max(last + 1);
        }
        self.used_until
    }

    fn succeeded(&mut self, gains: bool) {
        self.schedule.succeeded(host::now(), jitter(host::random()));
        if self.is_lost {
            self.is_lost = false;
            self.events.push_back(LeaseEvent::StoreFound);
        }
        self.status.fence_unix_ms = self.options.layout.unix_ms_at(self.status.fence);
        self.status.last_error = None;
        self.attempts += 1;
        self.gains += u64::from(gains);
    }

    /// Records a fault and returns it as the error that users see.
    pub(super) fn fault(&mut self, fault: &Fault) -> Error {
        let error = self.error(fault);
        self.failed(&error, Some(fault));
        error
    }

    fn error(&self, fault: &Fault) -> Error {
        fault.to_error(&self.place, &self.options.namespace, &self.options.layout)
    }

    pub(super) fn failed(&mut self, error: &Error, fault: Option<&Fault>) {
        self.schedule.failed(error.retry_after(), host::now());
        self.status.failures += 1;
        self.status.last_error = Some(error.clone());
        self.attempts += 1;
        let is_lost = matches!(fault, Some(Fault::Unavailable(_) | Fault::Conflict));
        let error = error.clone();
        match fault {
            Some(fault) if fault.is_skew() => {
                self.events.push_back(LeaseEvent::ClockSkew { error });
            }
            _ if !is_lost => self.events.push_back(LeaseEvent::Refused { error }),
            _ if !self.is_lost => self.events.push_back(LeaseEvent::StoreLost { error }),
            _ => {}
        }
        self.is_lost = is_lost;
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }
}

fn holder_options(options: &LeaseOptions) -> HolderOptions {
    let window = options.window_ms.div_ceil(options.layout.unit_ms());
    HolderOptions { window, ttl_ms: options.ttl_ms, fixed: false, moves: true }
}

/// A generator of a granted node.
pub(super) fn generator(
    options: &LeaseOptions,
    grant: &Grant,
    start: u64,
) -> Result<Generator, Error> {
    let builder = Generator::builder(options.layout).node(grant.node);
    options.generator(builder, grant.max_ahead_ms, (start, grant.fence))?.build()
}

/// Options that only the core can judge are judged before a broker is asked for anything.
pub(super) fn check(options: &LeaseOptions) -> Result<(), Error> {
    let token = Token::from_bits(0);
    let (max_ahead_ms, max_window_ms, expires) = (0, 0, 0);
    let trial = Grant { node: 0, start: 0, fence: 2, token, max_ahead_ms, max_window_ms, expires };
    generator(options, &trial, 0).map(drop)
}

/// Of a reply that grants a node.
pub(super) const fn granted_layout(reply: &Result<Reply, Fault>) -> Option<Layout> {
    if let Ok(Reply::Granted(_, layout)) = reply { Some(*layout) } else { None }
}
