//! The keeper's state and decisions.

use flakeid_core::{Error, Window};

use super::{Begin, Demand, GeneratorState, Input, KeeperOptions, Output, Reading, Reply, Report};
use crate::store::Fault;
use crate::{Acquire, Effect, Event, Grant, Holder, HolderOptions, Identity, Renewed, Token};

/// The state machine that keeps a lease, with one [`Holder`] for each node and one generator for all nodes. A broker's
/// keeper manages a block of nodes instead of a generator.
///
/// A keeper has neither threads nor clocks, so its outputs depend only on its inputs. A lease's thread, `fetch` in
/// JavaScript, a broker or the protocol model drives the keeper.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Keeper {
    /// The holders, one for each node.
    pub holders: Vec<Holder>,
    /// The state of the generator.
    pub generator: GeneratorState,
    /// The length of a window in ticks. The length never exceeds the lessor's limit. The lessor would shorten a longer
    /// window, so that the next renewal would be due immediately.
    pub window: u64,
}

/// An input that is being processed, with the outputs so far.
struct Step<'a> {
    options: &'a KeeperOptions,
    reading: &'a Reading,
    outputs: Vec<Output>,
    /// The requests to send after all other outputs.
    demands: Vec<Output>,
    /// Whether the generator must be replaced.
    replaces: bool,
}

impl Keeper {
    /// Creates a keeper that has no node yet.
    #[must_use]
    pub fn new(options: &KeeperOptions, generator: GeneratorState) -> Self {
        let (holders, window) = (vec![Holder::new(); options.nodes], options.window());
        Self { holders, generator, window }
    }

    /// Processes an input and returns instructions for the driver.
    pub fn handle(
        &mut self,
        options: &KeeperOptions,
        reading: &Reading,
        input: Input,
    ) -> Vec<Output> {
        let mut step = Step::new(options, reading);
        match input {
            Input::Wake { member, margin, reserve, fresh } => {
                if member == 0 {
                    // An earlier attempt to start the generator may have failed because of the clock, so the keeper
                    // tries again.
                    self.begin(&mut step);
                }
                if let Err(error) = &reading.unix_ms {
                    step.report(Report::NoClock(error.clone()));
                }
                let event = self.wake(&step, margin, reserve, fresh);
                self.follow(&mut step, member, &event);
            }
            Input::Reply(Reply::Acquire { token, result }) => {
                self.acquired(&mut step, token, result);
            }
            Input::Reply(Reply::Renew { next, result }) => self.renewed(&mut step, next, result),
            Input::Reply(Reply::Release { node, result }) => step.report(match result {
                Ok(()) => Report::Released { node },
                Err(fault) => Report::NotReleased { node, fault },
            }),
            Input::Began { begin, result } => self.began(&mut step, begin, result),
            Input::Ended { used_until, keeps_fence } => {
                self.generator = GeneratorState::Ended { used_until };
                let last = options.acquire.layout.max_tick();
                // A release can lower the fence to `used_until`, but never raises the fence. Therefore, setting
                // `used_until` to the tick after the layout's last tick leaves the fence unchanged.
                let used_until = if keeps_fence { last + 1 } else { used_until };
                step.replaces = true;
                self.follow_all(&mut step, &Event::Ended { used_until });
            }
            Input::Close => self.follow_all(&mut step, &Event::Close),
        }
        if step.replaces {
            match self.generator {
                GeneratorState::Open => step.end(),
                GeneratorState::Ended { .. } => self.begin(&mut step),
            }
        }
        step.outputs.append(&mut step.demands);
        step.outputs
    }

    /// Returns whether the keeper would send a request in response to an [`Input::Wake`].
    #[must_use]
    pub fn is_due(
        &self,
        options: &KeeperOptions,
        reading: &Reading,
        margin: u64,
        reserve: u64,
    ) -> bool {
        let step = Step::new(options, reading);
        let event = self.wake(&step, margin, reserve, Token::from_bits(0));
        let options = self.holder_options(options);
        self.holders.iter().any(|holder| !holder.step(&options, &event).1.is_empty())
    }

    /// Returns the options of the holders.
    #[must_use]
    pub fn holder_options(&self, options: &KeeperOptions) -> HolderOptions {
        let KeeperOptions { acquire: Acquire { ttl_ms, ref identity, .. }, moves, .. } = *options;
        let fixed = matches!(identity, Identity::Node(_));
        HolderOptions { window: self.window, ttl_ms, fixed, moves }
    }

    /// Returns the later of the clock's tick and the next ID's tick.
    #[must_use]
    pub fn reached(&self, options: &KeeperOptions, reading: &Reading) -> u64 {
        tick(options, reading).max(self.next_tick(reading))
    }

    /// Returns whether the user has closed the lease.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.holders.iter().any(|holder| holder.closing)
    }

    fn wake(&self, step: &Step<'_>, margin: u64, reserve: u64, fresh: Token) -> Event {
        let unix_ms = *step.reading.unix_ms.as_ref().unwrap_or(&i64::MIN);
        let (now, next) = (tick(step.options, step.reading), self.next_tick(step.reading));
        Event::Wake { now, unix_ms, next, margin, reserve, fresh }
    }

    fn acquired(&mut self, step: &mut Step<'_>, token: Token, result: Result<Grant, Fault>) {
        let waits = |holder: &Holder| holder.acquiring == Some(token);
        let Some(member) = self.holders.iter().position(waits) else { return };
        let event = match result {
            Ok(grant) => Event::Granted { grant, next: self.next_tick(step.reading) },
            Err(fault) => {
                let hold = self.holders[member].hold.as_ref();
                let has_node = hold.is_some_and(|hold| !hold.fenced_off);
                step.report(Report::NotGranted { fault, has_node });
                Event::NotGranted { token }
            }
        };
        self.follow(step, member, &event);
    }

    fn renewed(&mut self, step: &mut Step<'_>, next: Token, result: Result<Renewed, Fault>) {
        let found = self.holders.iter().enumerate().find_map(|(member, holder)| {
            let hold = holder.hold.as_ref()?;
            (hold.renewal?.next == next).then_some((member, hold.grant.node))
        });
        let Some((member, node)) = found else { return };
        let event = match result {
            Ok(answer) => Event::Renewed { next, answer },
            Err(fault) => {
                step.report(Report::NotRenewed { node, fault: fault.clone() });
                match fault {
                    Fault::Refused(refusal) => Event::NotRenewed { next, refusal },
                    _ => Event::Unanswered { next },
                }
            }
        };
        self.follow(step, member, &event);
    }

    fn began(&mut self, step: &mut Step<'_>, begin: Begin, result: Result<(), Error>) {
        match result {
            Ok(()) => {
                self.generator = GeneratorState::Open;
                let expires = self.grants().map(|grant| grant.expires).min().unwrap_or_default();
                step.report(Report::Begun { begin, expires });
            }
            // Only the clock can cause this error, because all options were checked when the lease was opened. The
            // keeper does not release its nodes, because the clock may be corrected.
            Err(error) => step.report(Report::NoClock(error)),
        }
    }

    fn follow_all(&mut self, step: &mut Step<'_>, event: &Event) {
        for member in 0..self.holders.len() {
            self.follow(step, member, event);
        }
    }

    /// Passes an event to a holder, and converts the holder's effects to outputs.
    fn follow(&mut self, step: &mut Step<'_>, member: usize, event: &Event) {
        let options = self.holder_options(step.options);
        for effect in self.holders[member].apply(&options, event) {
            self.act(step, member, &effect);
        }
    }

    fn act(&mut self, step: &mut Step<'_>, member: usize, effect: &Effect) {
        match *effect {
            Effect::Acquire { token, instead_of } => match self.request(step, token) {
                Ok(request) => step.demand(Demand::Acquire { request, instead_of }),
                Err(error) => {
                    // If the clock failed, the keeper has already reported the error for this input.
                    if step.reading.unix_ms.is_ok() {
                        step.report(Report::NoClock(error));
                    }
                    self.follow(step, member, &Event::NotGranted { token });
                }
            },
            Effect::Renew(renew) => step.demand(Demand::Renew(renew)),
            Effect::Install(grant) => {
                let Acquire { window_ms, layout, .. } = step.options.acquire;
                self.window = window_ms.min(grant.max_window_ms).div_ceil(layout.unit_ms());
                step.report(Report::Granted(grant));
                step.replaces = true;
            }
            Effect::Raise { node, fence, expires } => {
                let lowest = self.grants().map(|grant| grant.fence).min().unwrap_or(fence);
                let extends = self.generator == GeneratorState::Open;
                if extends {
                    step.outputs.push(Output::Extend { fence: lowest });
                }
                step.report(Report::Renewed { node, fence, lowest, expires, extends });
                // A generator can start only if the windows of all its nodes overlap. The raised fence may have
                // produced such an overlap, so the keeper tries again to start the generator.
                step.replaces |= !extends;
            }
            Effect::End => step.end(),
            Effect::Release(release) => step.demand(Demand::Release(release)),
        }
    }

    fn request(&self, step: &Step<'_>, token: Token) -> Result<Acquire, Error> {
        let Step { options, reading, .. } = step;
        let now = reading.unix_ms.clone()?;
        options.acquire.layout.tick_at(now)?;
        let after = match self.generator {
            GeneratorState::Open => reading.next.map_or(0, |next| next + 1),
            GeneratorState::Ended { used_until } => used_until,
        };
        Ok(Acquire { token, now, after, ..options.acquire.clone() })
    }

    /// Starts a generator for the ticks that all granted windows share, above the last tick of the previous generator.
    /// Does nothing while a generator is open, a node is missing, or the lease is closing. Also does nothing while the
    /// windows of several nodes do not overlap, because the next renewals extend the windows.
    fn begin(&mut self, step: &mut Step<'_>) {
        let GeneratorState::Ended { used_until } = self.generator else { return };
        let (Some(start), Some(fence)) = (self.window_start(), self.window_fence()) else { return };
        if self.grants().count() < self.holders.len() || self.is_closing() {
            return;
        }
        if fence.saturating_sub(start) >= Window::SHORTEST {
            let nodes = self.grants().map(|grant| grant.node).collect();
            let max_ahead_ms = self.grants().map(|grant| grant.max_ahead_ms).min().unwrap_or(0);
            step.outputs.push(Output::Begin(Begin { nodes, start, fence, max_ahead_ms }));
        } else if self.holders.len() == 1 {
            step.report(Report::TooShort);
            self.follow(step, 0, &Event::Unusable { used_until });
        }
    }

    /// Returns the tick of the next ID. If no generator is open, returns the first tick of the next generator,
    /// because renewals must extend every window beyond that tick.
    fn next_tick(&self, reading: &Reading) -> u64 {
        let next = reading.next.filter(|_| self.generator == GeneratorState::Open);
        next.or_else(|| self.window_start()).unwrap_or(0)
    }

    /// Returns the first tick that all granted windows contain and that this process has not used.
    fn window_start(&self) -> Option<u64> {
        let start = self.grants().map(|grant| grant.start).max()?;
        Some(match self.generator {
            GeneratorState::Open => start,
            GeneratorState::Ended { used_until } => start.max(used_until),
        })
    }

    /// Returns the lowest fence of all grants. No tick at or above this fence is in all granted windows.
    fn window_fence(&self) -> Option<u64> {
        self.grants().map(|grant| grant.fence).min()
    }

    fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.holders.iter().filter_map(|holder| holder.hold.as_ref()).map(|hold| &hold.grant)
    }
}

impl<'a> Step<'a> {
    const fn new(options: &'a KeeperOptions, reading: &'a Reading) -> Self {
        Self { options, reading, outputs: Vec::new(), demands: Vec::new(), replaces: false }
    }

    fn report(&mut self, report: Report) {
        self.outputs.push(Output::Report(report));
    }

    fn demand(&mut self, demand: Demand) {
        self.demands.push(Output::Demand(demand));
    }

    /// Adds the output `End` unless the outputs already contain it, because all holders share one generator.
    fn end(&mut self) {
        if !self.outputs.iter().any(|output| matches!(output, Output::End)) {
            self.outputs.push(Output::End);
        }
    }
}

/// Returns the clock's tick, or 0 if the clock failed or is outside the layout's range.
fn tick(options: &KeeperOptions, reading: &Reading) -> u64 {
    let unix_ms = reading.unix_ms.as_ref().ok();
    unix_ms.and_then(|now| options.acquire.layout.tick_at(*now).ok()).unwrap_or(0)
}
