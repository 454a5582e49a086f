use flakeid_core::Window;

use super::{Grant, Refusal, Release, Renew, Renewed, Token};

/// How a holder leases. Ticks are the layout's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HolderOptions {
    /// How many ticks a renewal keeps ahead of the clock.
    pub window: u64,
    /// For how long a node is kept from others without a renewal, in milliseconds.
    pub ttl_ms: u64,
    /// Whether only one node will do. If another process takes it, this one ends with its window,
    /// so that the two do not take it from each other for ever.
    pub fixed: bool,
    /// Whether other lessors can grant a node while renewals at the present one fail.
    pub moves: bool,
}

/// What happened, as far as it concerns a holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Time has passed, or IDs run short.
    Wake {
        /// The tick of the clock.
        now: u64,
        /// The clock, in Unix milliseconds.
        unix_ms: i64,
        /// The tick of the next ID, if there is a generator.
        next: u64,
        /// How many ticks must be left for a renewal not to be due.
        margin: u64,
        /// With fewer ticks than this left, a holder whose renewals fail also asks other lessors.
        reserve: u64,
        /// A token never used before, for whatever is sent now.
        fresh: Token,
    },
    /// An acquire was granted.
    Granted {
        /// The answer.
        grant: Grant,
        /// The tick of the next ID, if there is a generator.
        next: u64,
    },
    /// An acquire was refused, or nobody knows: then the token asked for is abandoned, and what
    /// may have been granted for it expires unused.
    NotGranted {
        /// The token that was asked for.
        token: Token,
    },
    /// A renewal was confirmed.
    Renewed {
        /// The token it was for.
        next: Token,
        /// The answer.
        answer: Renewed,
    },
    /// A renewal was refused.
    NotRenewed {
        /// The token it was for.
        next: Token,
        /// The answer.
        refusal: Refusal,
    },
    /// Nobody knows whether a renewal was applied: it timed out, or the connection broke.
    Unanswered {
        /// The token it was for.
        next: Token,
    },
    /// Nothing of a grant can be used: this process has used later ticks already.
    Unusable {
        /// The tick after the last one in which this process issued an ID.
        used_until: u64,
    },
    /// The user is done.
    Close,
    /// The generator has ended.
    Ended {
        /// The tick after the last one in which it issued an ID.
        used_until: u64,
    },
}

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Ask for a node.
    Acquire {
        /// The token it shall have.
        token: Token,
        /// The node that this holder has but cannot renew: only lessors other than its granter are
        /// asked.
        instead_of: Option<u64>,
    },
    /// Ask for a higher fence.
    Renew(Renew),
    /// End the present generator, if there is one, and begin one in this window, above the last
    /// tick of the one before.
    Install(Grant),
    /// A renewal was confirmed: let the generator issue up to the fence, exclusive.
    Raise {
        /// The node that was renewed.
        node: u64,
        /// The confirmed fence.
        fence: u64,
        /// As in [`Grant`].
        expires: i64,
    },
    /// End the generator: no ID is issued after this.
    End,
    /// Give the node back.
    Release(Release),
}

/// A node held, and what is known of its row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HeldNode {
    /// What was granted; `fence` and `expires` are those of the last confirmed renewal, and so is
    /// the token.
    pub grant: Grant,
    /// The renewal that was sent and not yet answered, or whose answer was lost.
    pub renewal: Option<Renew>,
    /// Whether that renewal is on its way, so that it is not sent twice at a time.
    pub waiting: bool,
    /// Whether the node is another's above the fence: it may be used up, never renewed.
    pub fenced_off: bool,
    /// How the renewals went lately.
    pub renewals: Renewals,
}

/// How the renewals of a node went lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Renewals {
    /// The last one was confirmed, or none has been sent.
    #[default]
    Succeed,
    /// The last one failed.
    Fail,
    /// The last one failed, and other lessors have been asked for another node since.
    FailElsewhere,
}

impl HeldNode {
    /// A node that was granted just now.
    const fn new(grant: Grant) -> Self {
        let (renewal, waiting, fenced_off) = (None, false, false);
        Self { grant, renewal, waiting, fenced_off, renewals: Renewals::Succeed }
    }
}

/// One process's side of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Holder {
    /// The node it holds, if any.
    pub hold: Option<HeldNode>,
    /// The token of the acquire that is on its way.
    pub acquiring: Option<Token>,
    /// Whether the user is done.
    pub closing: bool,
    /// Whether a fixed node was lost to another process: no other is asked for.
    pub ousted: bool,
    /// The node of another lessor that takes the place of `hold` once the generator has ended.
    pub moving_to: Option<Grant>,
}

impl Holder {
    /// A holder of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next state and what to do. Pure: everything it depends on is in the arguments.
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
                    // The same renewal will be sent again: if it was applied after all, the store
                    // knows it by its token.
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

    /// How many ticks from `reached` on until this holder asks other lessors for a node in place of its
    /// own: its renewals fail, and then fewer than `reserve` ticks are left of its window. `None` if it
    /// does not.
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
                // An unanswered renewal is settled before anything else, whether due or not.
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
        // An answer that comes after it was given up is another's business: nobody uses that token.
        if self.acquiring != Some(grant.token) {
            return;
        }
        self.acquiring = None;
        if self.closing {
            // Nothing of it was used.
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

    /// Replaces the node by that of another lessor. The new generator comes first, because the old
    /// granter may be slow to answer the release.
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
            // Nobody took it: even a fixed node may be asked for again, under a new grant.
            Refusal::Restored { .. } | Refusal::MissingNamespace => hold.fenced_off = true,
            // Anything else leaves the grant as it was; the same is tried later with a new wish.
            _ => {}
        }
    }

    fn give_back(&mut self, used_until: u64, effects: &mut Vec<Effect>) {
        if let Some(hold) = self.hold.take()
            && !hold.fenced_off
        {
            // An unanswered renewal may have been applied; if not, this release does nothing and
            // the row expires. Either way nobody is misled.
            let token = hold.renewal.map_or(hold.grant.token, |renewal| renewal.next);
            let node = hold.grant.node;
            effects.push(Effect::Release(Release { node, token, used_until }));
        }
    }

    fn renewal_of(&mut self, token: Token) -> Option<&mut HeldNode> {
        self.hold.as_mut().filter(|hold| hold.renewal.is_some_and(|r| r.next == token))
    }
}

/// The release of a grant under which no ID was issued.
const fn unused(grant: &Grant) -> Effect {
    let Grant { node, token, start, .. } = *grant;
    Effect::Release(Release { node, token, used_until: start })
}
