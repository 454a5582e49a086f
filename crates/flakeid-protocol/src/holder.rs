use flakeid_core::Window;

use super::{Grant, Refusal, Release, Renew, Renewed, Token};

/// The options of a holder. Windows are measured in ticks of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HolderOptions {
    /// The number of ticks that a renewal requests beyond the current tick.
    pub window: u64,
    /// The time for which the node stays reserved without a renewal, in milliseconds.
    pub ttl_ms: u64,
    /// Whether the holder accepts only one node. If another process takes over the node, this holder stops at its fence
    /// and does not take the node back, because two such processes would take the node from each other forever.
    pub fixed: bool,
    /// Whether the holder may get a node from another lessor if its renewals fail or its granter shuts down.
    pub moves: bool,
}

/// An input of a holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Time has passed or few IDs are left, so the holder checks whether a request is due.
    Wake {
        /// The clock's tick.
        now: u64,
        /// The clock's time, in Unix milliseconds.
        unix_ms: i64,
        /// The tick of the next ID. If no generator is open, the first tick of the next generator.
        next: u64,
        /// The number of remaining ticks below which a renewal is due.
        margin: u64,
        /// The number of remaining ticks below which a holder with failing renewals also requests a node from other
        /// lessors.
        reserve: u64,
        /// The token for the next request. The token must never have been used before.
        fresh: Token,
    },
    /// An acquire request was granted.
    Granted {
        /// The granted node, with its window and token.
        grant: Grant,
        /// The tick of the next ID. If no generator is open, the first tick of the next generator.
        next: u64,
    },
    /// An acquire request was refused, or its outcome is unknown. If the outcome is unknown, the holder never uses the
    /// token again. If the lessor did grant a node, that grant expires unused.
    NotGranted {
        /// The token of the acquire request.
        token: Token,
    },
    /// A renewal was confirmed.
    Renewed {
        /// The renewal's new token.
        next: Token,
        /// The result of the renewal.
        answer: Renewed,
    },
    /// A renewal was refused.
    NotRenewed {
        /// The renewal's new token.
        next: Token,
        /// The reason for the refusal.
        refusal: Refusal,
    },
    /// The outcome of a renewal is unknown, because the renewal timed out or the connection broke.
    Unanswered {
        /// The renewal's new token.
        next: Token,
    },
    /// The granted window is unusable, because this process has already issued IDs of later ticks.
    Unusable {
        /// The tick after the last tick in which this process issued an ID.
        used_until: u64,
    },
    /// The user closed the lease.
    Close,
    /// The generator has ended.
    Ended {
        /// The tick after the last tick in which the generator issued an ID.
        used_until: u64,
    },
}

/// An output of a holder. The outputs must be processed in the order in which they are returned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Request a node.
    Acquire {
        /// The token of the grant.
        token: Token,
        /// The holder's current node, if this node must be replaced because its renewals fail or its granter is about
        /// to shut down. The request is not sent to the lessor that granted the current node.
        instead_of: Option<u64>,
    },
    /// Request a higher fence.
    Renew(Renew),
    /// Replace the current generator, if there is one, with a generator for the window of this grant. The new generator
    /// starts above the last tick of the replaced generator.
    Install(Grant),
    /// Let the generator issue IDs in the ticks below the fence, which a renewal has confirmed.
    Raise {
        /// The node that was renewed.
        node: u64,
        /// The confirmed fence.
        fence: u64,
        /// The time until which the node is reserved for its holder, in Unix milliseconds according to the store's
        /// clock.
        expires: i64,
    },
    /// End the generator, so that it issues no more IDs.
    End,
    /// Release the node.
    Release(Release),
}

/// A node that the holder leases, with the state of the grant and of the renewals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HeldNode {
    /// The grant, with the fence, expiry and token of the last confirmed renewal.
    pub grant: Grant,
    /// The unconfirmed renewal: either the holder is waiting for the response, or the response was lost.
    pub renewal: Option<Renew>,
    /// Whether the holder is waiting for the response to the renewal. If so, the renewal must not be sent again yet.
    pub waiting: bool,
    /// Whether the node is lost from its fence onward, usually to another process. The holder can use up its window,
    /// but can never renew the node.
    pub fenced_off: bool,
    /// The outcome of the latest renewals.
    pub renewals: Renewals,
}

/// The outcome of a node's latest renewals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Renewals {
    /// The latest renewal was confirmed, or no renewal has been sent yet.
    #[default]
    Succeed,
    /// The latest renewal failed.
    Fail,
    /// The latest renewal was confirmed, but the granter is about to shut down.
    Leave,
    /// The holder has already requested a replacement node from other lessors, because the latest renewal failed or the
    /// granter is about to shut down.
    FailElsewhere,
}

impl HeldNode {
    /// Returns the initial state of a node that was just granted.
    const fn new(grant: Grant) -> Self {
        let (renewal, waiting, fenced_off) = (None, false, false);
        Self { grant, renewal, waiting, fenced_off, renewals: Renewals::Succeed }
    }
}

/// The protocol state of one process that holds a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Holder {
    /// The held node, if any.
    pub hold: Option<HeldNode>,
    /// The token of the pending acquire request.
    pub acquiring: Option<Token>,
    /// Whether the user closed the lease.
    pub closing: bool,
    /// Whether another process has taken over the fixed node, so that the holder requests no more nodes.
    pub displaced: bool,
    /// A grant from another lessor. The granted node replaces the held node after the generator has ended.
    pub moving_to: Option<Grant>,
}

impl Holder {
    /// Returns a holder without a node.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next state and the outputs for an input. The function is pure: the result depends only on `self` and
    /// the arguments.
    #[must_use]
    pub fn step(&self, options: &HolderOptions, event: &Event) -> (Self, Vec<Effect>) {
        let mut next = self.clone();
        let effects = next.apply(options, event);
        (next, effects)
    }

    /// Changes the state as [`step`](Self::step) does, and returns the outputs.
    pub fn apply(&mut self, options: &HolderOptions, event: &Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Wake { now, unix_ms, next: next_tick, margin, reserve, fresh } => {
                let reached = (*now).max(*next_tick);
                if self.until_others(options, reached, *reserve) == Some(0) {
                    self.ask_others(*fresh, &mut effects);
                } else {
                    self.wake(options, reached, *unix_ms, *margin, *fresh, &mut effects);
                }
            }
            Event::Granted { grant, next: next_tick } => {
                self.granted(*grant, *next_tick, &mut effects);
            }
            Event::NotGranted { token } => {
                if self.acquiring == Some(*token) {
                    self.acquiring = None;
                }
            }
            Event::Renewed { next: token, answer } => {
                self.renewed(*token, *answer, &mut effects);
            }
            Event::NotRenewed { next: token, refusal } => {
                self.not_renewed(options, *token, refusal);
            }
            Event::Unanswered { next: token } => {
                if let Some(hold) = self.renewal_of(*token) {
                    // The same renewal will be sent again. If the renewal was already applied, the store recognizes
                    // it by its token.
                    hold.waiting = false;
                    hold.renewals = Renewals::Fail;
                }
            }
            Event::Unusable { used_until } => self.release_node(*used_until, &mut effects),
            Event::Close => {
                self.closing = true;
                effects.push(Effect::End);
            }
            Event::Ended { used_until } if self.closing => {
                self.release_node(*used_until, &mut effects);
                effects.extend(self.moving_to.take().map(|grant| unused(&grant)));
            }
            Event::Ended { used_until } => self.move_on(*used_until, &mut effects),
        }
        effects
    }

    /// Returns the number of ticks from `reached` until this holder requests a replacement node from other lessors, or
    /// `None` if the holder does not request one. If renewals fail, the request is due when fewer than `reserve` ticks
    /// of the window are left. If the granter is about to shut down, the request is due immediately.
    #[must_use]
    pub fn until_others(&self, options: &HolderOptions, reached: u64, reserve: u64) -> Option<u64> {
        let hold = self.hold.as_ref().filter(|hold| !hold.fenced_off)?;
        let is_idle = !self.closing && self.acquiring.is_none() && !hold.waiting;
        // A fixed node cannot be replaced by a node from another lessor.
        if !options.moves || options.fixed || !is_idle {
            return None;
        }
        let left = hold.grant.fence.saturating_sub(reached);
        match hold.renewals {
            Renewals::Fail => Some(left.saturating_add(1).saturating_sub(reserve)),
            Renewals::Leave => Some(0),
            Renewals::Succeed | Renewals::FailElsewhere => None,
        }
    }

    fn ask_others(&mut self, token: Token, effects: &mut Vec<Effect>) {
        let Some(hold) = &mut self.hold else { return };
        hold.renewals = Renewals::FailElsewhere;
        self.acquiring = Some(token);
        effects.push(Effect::Acquire { token, instead_of: Some(hold.grant.node) });
    }

    fn wake(
        &mut self,
        options: &HolderOptions,
        reached: u64,
        unix_ms: i64,
        margin: u64,
        fresh: Token,
        effects: &mut Vec<Effect>,
    ) {
        if self.closing {
            return;
        }
        match &mut self.hold {
            Some(hold) if !hold.fenced_off => {
                if hold.waiting {
                    return;
                }
                let due = hold.grant.fence.saturating_sub(reached) < margin;
                // A renewal with an unknown outcome is repeated before other requests, even if no renewal is due.
                let renewal = match hold.renewal {
                    Some(unsettled) => Renew { now: unix_ms, ..unsettled },
                    None if due => Renew {
                        node: hold.grant.node,
                        start: hold.grant.start,
                        token: hold.grant.token,
                        next: fresh.of_grant(hold.grant.token),
                        confirmed: hold.grant.fence,
                        wanted: reached.saturating_add(options.window),
                        ttl_ms: options.ttl_ms,
                        now: unix_ms,
                        waited_ms: 0,
                    },
                    None => return,
                };
                hold.renewal = Some(renewal);
                hold.waiting = true;
                effects.push(Effect::Renew(renewal));
            }
            _ => {
                if self.acquiring.is_none() && !self.displaced {
                    self.acquiring = Some(fresh);
                    effects.push(Effect::Acquire { token: fresh, instead_of: None });
                }
            }
        }
    }

    fn granted(&mut self, grant: Grant, next_tick: u64, effects: &mut Vec<Effect>) {
        // A response to an abandoned acquire request is ignored, because the request's token is no longer in use.
        if self.acquiring != Some(grant.token) {
            return;
        }
        self.acquiring = None;
        if self.closing {
            // The lease is already closed, so the holder releases the node without having used it.
            effects.push(unused(&grant));
            return;
        }
        match &self.hold {
            Some(hold) if !hold.fenced_off => {
                let first = grant.start.max(next_tick.saturating_add(1));
                let is_usable = grant.fence.saturating_sub(first) >= Window::SHORTEST;
                let is_failing = hold.renewals != Renewals::Succeed;
                if is_failing && is_usable && grant.fence > hold.grant.fence {
                    self.moving_to = Some(grant);
                    effects.push(Effect::End);
                } else {
                    effects.push(unused(&grant));
                }
            }
            _ => {
                self.hold = Some(HeldNode::new(grant));
                effects.push(Effect::Install(grant));
            }
        }
    }

    /// Replaces the node with a node from another lessor. The new generator begins before the old node is released,
    /// because the release may be slow.
    fn move_on(&mut self, used_until: u64, effects: &mut Vec<Effect>) {
        let Some(grant) = self.moving_to.take() else { return };
        effects.push(Effect::Install(grant));
        self.release_node(used_until, effects);
        self.hold = Some(HeldNode::new(grant));
    }

    fn renewed(&mut self, token: Token, answer: Renewed, effects: &mut Vec<Effect>) {
        let closing = self.closing;
        let Some(hold) = self.renewal_of(token) else { return };
        hold.grant.token = token;
        hold.grant.fence = hold.grant.fence.max(answer.fence);
        hold.grant.expires = answer.expires;
        hold.renewal = None;
        hold.waiting = false;
        hold.renewals = if answer.leaving { Renewals::Leave } else { Renewals::Succeed };
        let Grant { node, fence, expires, .. } = hold.grant;
        if !closing {
            effects.push(Effect::Raise { node, fence, expires });
        }
    }

    fn not_renewed(&mut self, options: &HolderOptions, token: Token, refusal: &Refusal) {
        let Some(hold) = self.renewal_of(token) else { return };
        hold.waiting = false;
        hold.renewals = Renewals::Fail;
        // A store that refuses its clock has not looked at the row, so an earlier attempt with the same token may have
        // succeeded. The holder repeats the renewal, as it does without a response.
        if matches!(refusal, Refusal::ClockStep { .. } | Refusal::ImpossibleClock { .. }) {
            return;
        }
        hold.renewal = None;
        match refusal {
            Refusal::FencedOff => {
                hold.fenced_off = true;
                self.displaced = options.fixed;
            }
            // No other process took the node, so even a fixed node can be requested again. The new grant starts above
            // all ticks that this process has used.
            Refusal::Restored { .. } | Refusal::MissingNamespace => hold.fenced_off = true,
            // Any other refusal leaves the grant unchanged, and the holder sends a new renewal later.
            _ => {}
        }
    }

    fn release_node(&mut self, used_until: u64, effects: &mut Vec<Effect>) {
        if let Some(hold) = self.hold.take()
            && !hold.fenced_off
        {
            // If the outcome of the last renewal is unknown, the release uses the renewal's new token. If the store did
            // not apply that renewal, it ignores the release, and the node becomes free when its row expires.
            let token = hold.renewal.map_or(hold.grant.token, |renewal| renewal.next);
            let node = hold.grant.node;
            effects.push(Effect::Release(Release { node, token, used_until }));
        }
    }

    fn renewal_of(&mut self, token: Token) -> Option<&mut HeldNode> {
        self.hold.as_mut().filter(|hold| hold.renewal.is_some_and(|r| r.next == token))
    }
}

/// Returns the release of a grant under which no ID was issued.
const fn unused(grant: &Grant) -> Effect {
    let Grant { node, token, start, .. } = *grant;
    Effect::Release(Release { node, token, used_until: start })
}
