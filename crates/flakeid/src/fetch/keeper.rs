//! The driver of a lease's keeper in a host that sends the requests itself.

use std::collections::VecDeque;
use std::time::Duration;

use flakeid_core::{Clock, Error, Generator, Layout, SystemClock};

use super::host;
use flakeid_protocol::http::{self, Brokers, Exchange, HttpAnswer, HttpRequest};
use flakeid_protocol::keeper::{
    Begin, Demand, GeneratorState, Input, KeeperOptions, LeaseEvent, LeaseKeeper, LeaseOptions,
    Notice, Output, Progress, Reading, Reply,
};
use flakeid_protocol::random::jitter;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Token, no_other_lessor};

/// A keeper and its driver, which has at most one request under way.
pub(super) struct FetchKeeper {
    pub(super) options: LeaseOptions,
    /// Whether the namespace must have the layout of `options`.
    is_of_layout: bool,
    /// The name of the brokers in errors.
    place: String,
    brokers: Brokers,
    keeper: LeaseKeeper,
    /// The generator of the present grant, or of the last one.
    pub(super) generator: Option<Generator>,
    /// The tick after the last one used by a generator that has ended.
    used_until: u64,
    /// The request under way, and the time at which its clock was read.
    exchange: Option<(Exchange, Duration)>,
    /// The requests to send after it, each with that time.
    demands: VecDeque<(Demand, Duration)>,
    pub(super) events: VecDeque<LeaseEvent>,
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
            events: VecDeque::new(),
        }
    }

    /// Replaces the options by those of the namespace's layout, if the lease was opened without a layout.
    pub(super) fn adopt(&mut self, options: LeaseOptions) {
        self.keeper.adopt(of_keeper(&options));
        self.options = options;
        self.is_of_layout = true;
    }

    /// Returns whether the namespace must have the layout of the options.
    pub(super) const fn is_of_layout(&self) -> bool {
        self.is_of_layout
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) const fn progress(&self) -> &Progress {
        self.keeper.progress()
    }

    /// Returns whether the keeper has closed the lease and sent every request.
    pub(super) fn is_ended(&self) -> bool {
        self.keeper.is_closing() && self.exchange.is_none()
    }

    pub(super) fn rest(&mut self) -> Duration {
        self.keeper.rest(&reading(self.generator.as_ref()))
    }

    pub(super) fn pause(&self) -> Duration {
        self.keeper.pause(host::now())
    }

    /// Wakes the keeper, or closes the lease.
    pub(super) fn wake(&mut self, is_closing: bool) {
        if self.exchange.is_some() {
            return;
        }
        if is_closing {
            self.follow(Input::Close);
        } else {
            let reading = reading(self.generator.as_ref());
            let outputs = self.keeper.wake(&reading, 0, Token::from_bits(host::random()));
            self.carry_out(&reading, outputs);
        }
        self.send_next();
    }

    /// Returns the request to send now.
    pub(super) fn request(&self) -> Option<Result<HttpRequest, Fault>> {
        let (exchange, read) = self.exchange.as_ref()?;
        Some(exchange.request(&self.brokers, host::now().saturating_sub(*read)))
    }

    /// Takes the answer to the request. Returns the demand and its reply once it is settled. The caller
    /// passes them to `replied`, after `adopt` if the reply has the layout of a lease without one.
    pub(super) fn answered(
        &mut self,
        answer: Result<HttpAnswer, String>,
    ) -> Option<(Demand, Result<http::Reply, Fault>)> {
        let (exchange, _) = self.exchange.as_mut()?;
        let reply = exchange.answered(&mut self.brokers, answer)?;
        let (exchange, _) = self.exchange.take()?;
        Some((exchange.into_demand(), reply))
    }

    /// Passes the reply to a demand to the keeper.
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
                // The row expires.
                Demand::Release(_) => None,
            };
            let (brokers, namespace) = (&self.brokers, &self.options.namespace);
            match Exchange::new(brokers, namespace, demand, self.is_of_layout) {
                Some(exchange) => self.exchange = Some((exchange, read)),
                // No broker can take the request.
                None => reply.into_iter().for_each(|reply| self.follow(Input::Reply(reply))),
            }
        }
    }

    fn follow(&mut self, input: Input) {
        let reading = reading(self.generator.as_ref());
        let outputs = self.keeper.handle(&reading, input);
        self.carry_out(&reading, outputs);
    }

    fn carry_out(&mut self, reading: &Reading, outputs: Vec<Output<Notice>>) {
        for output in outputs {
            match output {
                Output::Begin(begin) => {
                    let made = generator(&self.options, &begin);
                    let result = made.map(|made| self.generator = Some(made));
                    self.follow(Input::Began { begin, result });
                }
                Output::Extend { fence } => {
                    let made = self.generator.as_ref();
                    if made.is_none_or(|made| made.extend(fence).is_err()) {
                        self.end();
                    }
                }
                Output::End => self.end(),
                // The host looks at it.
                Output::Event(Notice::Progress) => {}
                Output::Event(Notice::Event(event)) => self.events.push_back(event),
                Output::Demand(demand) => self.demands.push_back((demand, reading.passed)),
            }
        }
    }

    /// Retires the present generator.
    fn end(&mut self) {
        if let Some(Ok(Some(last))) = self.generator.as_ref().map(Generator::retire) {
            self.used_until = self.used_until.max(last + 1);
        }
        self.follow(Input::Ended { used_until: self.used_until, keeps_fence: false });
    }
}

/// Returns the options of the keeper, which knows neither the host's name nor the process.
fn of_keeper(options: &LeaseOptions) -> KeeperOptions {
    options.of_keeper(String::new(), 0)
}

fn reading(generator: Option<&Generator>) -> Reading {
    Reading {
        passed: host::now(),
        unix_ms: Ok(SystemClock.unix_ms()),
        next: generator.and_then(Generator::next_tick),
        jitter: jitter(host::random()),
    }
}

/// Builds the generator of a grant. A broker grants one node at a time.
fn generator(options: &LeaseOptions, begin: &Begin) -> Result<Generator, Error> {
    let mut builder = Generator::builder(options.layout);
    // Without a node the builder reports an error, because there is no default.
    if let [node] = begin.nodes[..] {
        builder = builder.node(node);
    }
    options.generator(builder, begin.max_ahead_ms, (begin.start, begin.fence))?.build()
}

/// Checks the options that only the core can check, before the first request.
pub(super) fn check(options: &LeaseOptions) -> Result<(), Error> {
    generator(options, &Begin { nodes: vec![0], start: 0, fence: 2, max_ahead_ms: 0 }).map(drop)
}

/// Returns the layout of a reply that grants a node.
pub(super) const fn granted_layout(reply: &Result<http::Reply, Fault>) -> Option<Layout> {
    if let Ok(http::Reply::Granted(_, layout)) = reply { Some(*layout) } else { None }
}
