use flakeid_core::Window;

use super::{Grant, Refusal, Release, Renew, Renewed, Token};

/// The options of a holder, in ticks of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HolderOptions {
    /// The number of ticks ahead of the clock that a renewal requests.
    pub window: u64,
    /// The time for which no other process gets the node without a renewal, in milliseconds.
    pub ttl_ms: u64,
    /// Whether the holder accepts only one node. If another process takes it over, this one ends with its window, so
    /// that the two do not take over the node from each other forever.
    pub fixed: bool,
    /// Whether other lessors can grant a node while renewals at the current one fail.
    pub moves: bool,
}

/// An input of a holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Time has passed, or few IDs are left.
    Wake {
        /// The clock's tick.
        now: u64,
        /// The clock's time, in Unix milliseconds.
        unix_ms: i64,
        /// The tick of the next ID, if there is a generator.
        next: u64,
        /// The number of remaining ticks below which a renewal is due.
        margin: u64,
        /// The number of remaining ticks below which a holder whose renewals fail also asks other lessors.
        reserve: u64,
        /// A token that was never used before, for the next request.
        fresh: Token,
    },
    /// An acquire was granted.
    Granted {
        /// The response.
        grant: Grant,
        /// The tick of the next ID, if there is a generator.
        next: u64,
    },
    /// An acquire was refused, or its outcome is unknown: then the holder never uses the token again, and a grant for
    /// it expires unused.
    NotGranted {
        /// The token of the acquire.
        token: Token,
    },
    /// A renewal was confirmed.
    Renewed {
        /// The new token of the renewal.
        next: Token,
        /// The response.
        answer: Renewed,
    },
    /// A renewal was refused.
    NotRenewed {
        /// The new token of the renewal.
        next: Token,
        /// The response.
        refusal: Refusal,
    },
    /// The outcome of a renewal is unknown, because it timed out or the connection broke.
    Unanswered {
        /// The new token of the renewal.
        next: Token,
    },
    /// A grant is unusable, because this process has already used later ticks.
    Unusable {
        /// The tick after the last one in which this process issued an ID.
        used_until: u64,
    },
    /// The user closed the lease.
    Close,
    /// The generator has ended.
    Ended {
        /// The tick after the last one in which it issued an ID.
        used_until: u64,
    },
}

/// The outputs of a holder, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Request a node.
    Acquire {
        /// The token of the grant.
        token: Token,
        /// The node that this holder has but cannot renew. The request goes only to lessors other than its granter.
        instead_of: Option<u64>,
    },
    /// Request a higher fence.
    Renew(Renew),
    /// End the current generator, if there is one, and begin another in this window, above the last tick of the
    /// earlier one.
    Install(Grant),
    /// Let the generator issue IDs up to the fence, exclusive, after a confirmed renewal.
    Raise {
        /// The node that was renewed.
        node: u64,
        /// The confirmed fence.
        fence: u64,
        /// As in [`Grant`].
        expires: i64,
    },
    /// End the generator. It issues no ID afterwards.
    End,
    /// Release the node.
    Release(Release),
}

/// A node that is held, and the known state of its row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HeldNode {
    /// The grant, with the fence, expiry and token of the last confirmed renewal.
    pub grant: Grant,
    /// The renewal without a response yet, or whose response was lost.
    pub renewal: Option<Renew>,
    /// Whether that renewal is being sent, so that it is not sent twice at the same time.
    pub waiting: bool,
    /// Whether the node belongs to another process above the fence. The holder can use up its window and never renew
    /// it.
    pub fenced_off: bool,
    /// The state of the latest renewals.
    pub renewals: Renewals,
}

/// The state of the latest renewals of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Renewals {
    /// The latest renewal was confirmed, or none was sent.
    #[default]
    Succeed,
    /// The latest renewal failed.
    Fail,
    /// The latest renewal failed, and the holder has since asked other lessors for another node.
    FailElsewhere,
}

impl HeldNode {
    /// Returns the state of a node that was just granted.
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
    /// The token of the pending acquire.
    pub acquiring: Option<Token>,
    /// Whether the user closed the lease.
    pub closing: bool,
    /// Whether a fixed node was lost to another process, so that the holder requests no other node.
    pub ousted: bool,
    /// The node of another lessor that replaces `hold` once the generator has ended.
    pub moving_to: Option<Grant>,
}

impl Holder {
    /// Returns a holder without a node.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Advances the state by an input and returns the outputs. It is pure: it depends only on its arguments.
    #[must_use]
    pub fn step(&self, options: &HolderOptions, event: &Event) -> (Self, Vec<Effect>) {
        let mut next = self.clone();
        let mut effects = Vec::new();
        match event {
            Event::Wake { now, unix_ms, next: next_tick, margin, reserve, fresh } => {
                let reached = (*now).max(*next_tick);
                if next.until_others(options, reached, *reserve) == Some(0) {
                    next.ask_others(*fresh, &mut effects);
                } else {
                    next.wake(options, reached, *unix_ms, *margin, *fresh, &mut effects);
                }
            }
            Event::Granted { grant, next: next_tick } => {
                next.granted(*grant, *next_tick, &mut effects);
            }
            Event::NotGranted { token } => {
                if next.acquiring == Some(*token) {
                    next.acquiring = None;
                }
            }
            Event::Renewed { next: token, answer } => {
                next.renewed(*token, *answer, &mut effects);
            }
            Event::NotRenewed { next: token, refusal } => {
                next.not_renewed(options, *token, refusal);
            }
            Event::Unanswered { next: token } => {
                if let Some(hold) = next.renewal_of(*token) {
                    // The same renewal will be sent again. If it was applied before, the store recognises it by its
                    // token.
                    hold.waiting = false;
                    hold.renewals = Renewals::Fail;
                }
            }
            Event::Unusable { used_until } => next.give_back(*used_until, &mut effects),
            Event::Close => {
                next.closing = true;
                effects.push(Effect::End);
            }
            Event::Ended { used_until } if next.closing => {
                next.give_back(*used_until, &mut effects);
                effects.extend(next.moving_to.take().map(|grant| unused(&grant)));
            }
            Event::Ended { used_until } => next.move_on(*used_until, &mut effects),
        }
        (next, effects)
    }

    /// Returns the number of ticks after `reached` at which this holder asks other lessors for a node to replace its
    /// own: when its renewals fail and fewer than `reserve` ticks of its window are left. Returns `None` if it never
    /// does.
    #[must_use]
    pub fn until_others(&self, options: &HolderOptions, reached: u64, reserve: u64) -> Option<u64> {
        let hold = self.hold.as_ref().filter(|hold| !hold.fenced_off)?;
        let is_idle = !self.closing && self.acquiring.is_none() && !hold.waiting;
        let asks = options.moves && hold.renewals == Renewals::Fail && is_idle;
        let left = hold.grant.fence.saturating_sub(reached);
        asks.then(|| left.saturating_add(1).saturating_sub(reserve))
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
                // A renewal with an unknown outcome is repeated before anything else, whether due or not.
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
                if self.acquiring.is_none() && !self.ousted {
                    self.acquiring = Some(fresh);
                    effects.push(Effect::Acquire { token: fresh, instead_of: None });
                }
            }
        }
    }

    fn granted(&mut self, grant: Grant, next_tick: u64, effects: &mut Vec<Effect>) {
        // A response to an abandoned acquire is ignored, because no request uses that token any more.
        if self.acquiring != Some(grant.token) {
            return;
        }
        self.acquiring = None;
        if self.closing {
            // No tick of the grant was used.
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

    /// Replaces the node by that of another lessor. The new generator begins first, because the old granter may
    /// respond slowly to the release.
    fn move_on(&mut self, used_until: u64, effects: &mut Vec<Effect>) {
        let Some(grant) = self.moving_to.take() else { return };
        effects.push(Effect::Install(grant));
        self.give_back(used_until, effects);
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
        hold.renewals = Renewals::Succeed;
        let Grant { node, fence, expires, .. } = hold.grant;
        if !closing {
            effects.push(Effect::Raise { node, fence, expires });
        }
    }

    fn not_renewed(&mut self, options: &HolderOptions, token: Token, refusal: &Refusal) {
        let Some(hold) = self.renewal_of(token) else { return };
        hold.renewal = None;
        hold.waiting = false;
        hold.renewals = Renewals::Fail;
        match refusal {
            Refusal::FencedOff => {
                hold.fenced_off = true;
                self.ousted = options.fixed;
            }
            // No other process took the node, so even a fixed node can be requested again, with a new grant.
            Refusal::Restored { .. } | Refusal::MissingNamespace => hold.fenced_off = true,
            // Any other refusal leaves the grant unchanged, and a new renewal is sent later.
            _ => {}
        }
    }

    fn give_back(&mut self, used_until: u64, effects: &mut Vec<Effect>) {
        if let Some(hold) = self.hold.take()
            && !hold.fenced_off
        {
            // A renewal with an unknown outcome may have been applied. If it was not, this release has no effect and
            // the row expires. Both cases are safe.
            let token = hold.renewal.map_or(hold.grant.token, |renewal| renewal.next);
            let node = hold.grant.node;
            effects.push(Effect::Release(Release { node, token, used_until }));
        }
    }

    fn renewal_of(&mut self, token: Token) -> Option<&mut HeldNode> {
        self.hold.as_mut().filter(|hold| hold.renewal.is_some_and(|r| r.next == token))
    }
}

/// Returns the release of a grant without any ID.
const fn unused(grant: &Grant) -> Effect {
    let Grant { node, token, start, .. } = *grant;
    Effect::Release(Release { node, token, used_until: start })
}
