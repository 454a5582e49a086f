//! A lease keeper whose requests are sent by the host environment, not by this library.

use std::collections::VecDeque;
use std::time::Duration;

use flakeid_core::{Clock, Error, Generator, Layout, SystemClock};

use super::host;
use flakeid_protocol::http::{self, Brokers, Exchange, HttpAnswer, HttpRequest};
use flakeid_protocol::keeper::{
    Begin, Demand, Driver, GeneratorState, Input, KeeperOptions, LeaseEvent, LeaseKeeper,
    LeaseOptions, Output, Progress, Reading, Reply, Report,
};
use flakeid_protocol::random::jitter;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Token, no_other_lessor};

/// A lease keeper and its driver, which has at most one request in progress.
pub(super) struct FetchKeeper {
    pub(super) options: LeaseOptions,
    /// Whether the namespace must have the layout in `options`.
    is_of_layout: bool,
    /// The name by which error messages refer to the brokers.
    place: String,
    brokers: Brokers,
    keeper: LeaseKeeper,
    /// The generator of the latest grant, even if the generator has ended.
    pub(super) generator: Option<Generator>,
    /// The tick after the last tick in which an ended generator issued an ID.
    used_until: u64,
    /// The request in progress, and the time at which the clock was read for the request.
    exchange: Option<(Exchange, Duration)>,
    /// The requests to send next, each with the time at which the clock was read for the request.
    demands: VecDeque<(Demand, Duration)>,
}

impl FetchKeeper {
    pub(super) fn new(
        options: LeaseOptions,
        is_of_layout: bool,
        place: String,
        brokers: Brokers,
    ) -> Self {
        let (of_keeper, ended) = (of_keeper(&options), GeneratorState::Ended { used_until: 0 });
        let keeper = LeaseKeeper::new(of_keeper, &place, &options.namespace, ended, &reading(None));
        Self {
            options,
            is_of_layout,
            place,
            brokers,
            keeper,
            generator: None,
            used_until: 0,
            exchange: None,
            demands: VecDeque::new(),
        }
    }

    /// Adopts options for the namespace's layout. The caller ensures that the lease was opened without a layout.
    pub(super) fn adopt(&mut self, options: LeaseOptions) {
        self.keeper.adopt(of_keeper(&options));
        self.options = options;
        self.is_of_layout = true;
    }

    /// Whether the namespace must have the layout in the options.
    pub(super) const fn is_of_layout(&self) -> bool {
        self.is_of_layout
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) const fn progress(&self) -> &Progress {
        self.keeper.progress()
    }

    pub(super) fn next_event(&mut self) -> Option<LeaseEvent> {
        self.keeper.next_event()
    }

    /// Returns whether the keeper has closed the lease and has sent all requests.
    pub(super) fn is_ended(&self) -> bool {
        self.keeper.is_closing() && self.exchange.is_none()
    }

    pub(super) fn rest(&mut self) -> Duration {
        self.keeper.rest(&self.reading())
    }

    pub(super) fn pause(&self) -> Duration {
        self.keeper.pause(host::now())
    }

    /// Closes the lease if `is_closing` is true; otherwise wakes the keeper. Has no effect while a request is in
    /// progress.
    pub(super) fn wake(&mut self, is_closing: bool) {
        if self.exchange.is_some() {
            return;
        }
        if is_closing {
            self.follow(Input::Close);
        } else {
            self.follow(self.keeper.wake(host::now(), 0, Token::from_bits(host::random())));
        }
        self.send_next();
    }

    /// Returns the request that the host must send now, or `None` if no request is in progress.
    pub(super) fn request(&self) -> Option<Result<HttpRequest, Fault>> {
        let (exchange, read) = self.exchange.as_ref()?;
        Some(exchange.request(&self.brokers, host::now().saturating_sub(*read)))
    }

    /// Processes the response to the request in progress. Returns the demand and its reply once the reply is final. The
    /// caller passes both to `replied`. If the lease was opened without a layout, the caller first calls `adopt` with
    /// options for the layout in the reply.
    pub(super) fn answered(
        &mut self,
        answer: Result<HttpAnswer, String>,
    ) -> Option<(Demand, Result<http::Reply, Fault>)> {
        let (exchange, _) = self.exchange.as_mut()?;
        let reply = exchange.answered(&mut self.brokers, answer)?;
        let (exchange, _) = self.exchange.take()?;
        Some((exchange.into_demand(), reply))
    }

    /// Passes a demand's reply to the keeper, and starts the next request.
    pub(super) fn replied(&mut self, demand: &Demand, reply: Result<http::Reply, Fault>) {
        self.follow(Input::Reply(match demand {
            Demand::Acquire { request, .. } => {
                let result = reply.and_then(http::Reply::granted);
                Reply::Acquire { token: request.token, result }
            }
            Demand::Renew(renew) => {
                let result = reply.and_then(http::Reply::renewed);
                Reply::Renew { next: renew.next, result }
            }
            Demand::Release(release) => {
                Reply::Release { node: release.node, result: reply.map(drop) }
            }
        }));
        self.send_next();
    }

    fn send_next(&mut self) {
        while self.exchange.is_none()
            && let Some((demand, read)) = self.demands.pop_front()
        {
            let reply = match &demand {
                Demand::Acquire { request, .. } => {
                    let result = Err(no_other_lessor());
                    Some(Reply::Acquire { token: request.token, result })
                }
                Demand::Renew(renew) => {
                    Some(Reply::Renew { next: renew.next, result: Err(no_other_lessor()) })
                }
                // A release that no broker can serve needs no reply, because the node's row expires anyway.
                Demand::Release(_) => None,
            };
            let (brokers, namespace) = (&self.brokers, &self.options.namespace);
            match Exchange::new(brokers, namespace, demand, self.is_of_layout) {
                Some(exchange) => self.exchange = Some((exchange, read)),
                // No broker can serve the request, so the keeper receives an error as the reply.
                None => reply.into_iter().for_each(|reply| self.follow(Input::Reply(reply))),
            }
        }
    }
}

impl Driver for FetchKeeper {
    fn reading(&self) -> Reading {
        reading(self.generator.as_ref())
    }

    fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output> {
        self.keeper.handle(reading, input)
    }

    fn begin(&mut self, begin: &Begin) -> Result<(), Error> {
        self.generator = Some(generator(&self.options, begin)?);
        Ok(())
    }

    fn extend(&mut self, fence: u64) -> bool {
        self.generator.as_ref().is_some_and(|generator| generator.extend(fence).is_ok())
    }

    fn end(&mut self) -> (u64, bool) {
        if let Some(Ok(Some(last))) = self.generator.as_ref().map(Generator::retire) {
            self.used_until = self.used_until.max(last + 1);
        }
        (self.used_until, false)
    }

    fn report(&mut self, reading: &Reading, report: Report) {
        self.keeper.report(reading, report);
    }

    fn send(&mut self, demand: Demand, read: Duration) -> Option<Reply> {
        self.demands.push_back((demand, read));
        None
    }
}

fn of_keeper(options: &LeaseOptions) -> KeeperOptions {
    let (host, pid) = host::owner();
    options.of_keeper(host, pid)
}

fn reading(generator: Option<&Generator>) -> Reading {
    Reading {
        passed: host::now(),
        unix_ms: Ok(SystemClock.unix_ms()),
        next: generator.and_then(Generator::next_tick),
        jitter: jitter(host::random()),
    }
}

/// Builds the generator for a grant. Each grant from a broker has exactly one node.
fn generator(options: &LeaseOptions, begin: &Begin) -> Result<Generator, Error> {
    let mut builder = Generator::builder(options.layout);
    // With any other number of nodes, `build` returns an error, because the builder has no default node.
    if let [node] = begin.nodes[..] {
        builder = builder.node(node);
    }
    options.generator(builder, begin.max_ahead_ms, (begin.start, begin.fence))?.build()
}

/// Checks that a generator can be built with the options.
pub(super) fn check(options: &LeaseOptions) -> Result<(), Error> {
    generator(options, &Begin { nodes: vec![0], start: 0, fence: 2, max_ahead_ms: 0 }).map(drop)
}

/// Returns the namespace's layout if the reply grants a node; otherwise returns `None`.
pub(super) const fn granted_layout(reply: &Result<http::Reply, Fault>) -> Option<Layout> {
    if let Ok(http::Reply::Granted(_, layout)) = reply { Some(*layout) } else { None }
}
