//! The removal of differences without consequences, so that the search has fewer worlds to try: messages that can no
//! longer have an effect, past times, the random bits of tokens, and the order of interchangeable processes.

use flakeid_protocol::{Holder, Renew, Renewals, Token};

use super::process::Process;
use super::world::World;
use crate::message::{Message, renewal_of};
use crate::scenario::{Mutant, Scenario};
use crate::store::{Contents, MAX_SKEW_MS, halves};

impl World {
    pub fn forget(&mut self, scenario: &Scenario) {
        let slowest = self.time - MAX_SKEW_MS.cast_signed() * i64::from(scenario.slow_clock);
        for contents in self.backups.iter_mut().chain([&mut self.contents]) {
            let quiet_until = contents.namespace().quiet_until;
            if quiet_until != 0 && quiet_until <= slowest {
                contents.forget_quiet();
            }
            contents.update_rows(|row| {
                let expires = if row.expires <= slowest { 0 } else { row.expires };
                // The holder of an expired row cannot continue its lease after a restore, except in a mutant.
                let renewed = if expires == 0 && scenario.mutant == Mutant::Nothing {
                    -MAX_SKEW_MS.cast_signed() - scenario.quiet.cast_signed()
                } else {
                    row.renewed
                };
                (row.token, expires, renewed)
            });
        }
        for process in &mut self.processes {
            for hold in process.keeper.holders.iter_mut().filter_map(|holder| holder.hold.as_mut())
            {
                hold.grant.expires = 0;
                if let Some(renewal) = &mut hold.renewal {
                    renewal.now = 0;
                }
                if hold.fenced_off {
                    hold.grant.token = Token::from_bits(0);
                }
                if hold.fenced_off || !scenario.moves {
                    hold.renewals = Renewals::Succeed;
                }
            }
            if let Some(cell) = process.cell.as_mut().filter(|cell| cell.closed || cell.limit == 0)
            {
                (cell.word, cell.limit) = (0, 0);
            }
            let open = process.cell.as_ref().is_some_and(|cell| !cell.closed);
            if !open {
                process.cell = None;
            }
        }
        self.drop_obsolete_messages(scenario, slowest);
        if is_symmetric(scenario) {
            self.processes.sort_by(|a, b| {
                (&a.cell, a.last, &a.in_transit).cmp(&(&b.cell, b.last, &b.in_transit))
            });
        }
        self.rename_tokens();
    }

    /// Drops responses that their holders would ignore, and requests whose refusal would have no effect.
    fn drop_obsolete_messages(&mut self, scenario: &Scenario, slowest: i64) {
        let oldest = slowest - MAX_SKEW_MS.cast_signed();
        for process in &mut self.processes {
            let Process { keeper, in_transit, .. } = process;
            let holders = &keeper.holders;
            let acquiring = |token| holders.iter().any(|holder| holder.acquiring == Some(token));
            let renewing = |token| {
                holders.iter().any(|holder| renewal_of(holder).is_some_and(|r| r.next == token))
            };
            in_transit.retain(|message| match *message {
                // The store would refuse an acquire with a clock reading this old, which has the effect of a timeout.
                Message::Acquire { now, .. } => now >= oldest,
                Message::Granted(grant) => acquiring(grant.token),
                Message::NotGranted { token } => acquiring(token),
                Message::Renewed { next, .. } | Message::NotRenewed { next, .. } => renewing(next),
                Message::Renew(_) | Message::Release(..) => true,
            });
        }
        // All messages are checked before the first one is dropped, because each check depends on all messages.
        let mut obsolete = Vec::new();
        for (index, process) in self.processes.iter().enumerate() {
            for (place, message) in process.in_transit.iter().enumerate() {
                if self.is_obsolete(scenario, index, message) {
                    obsolete.push((index, place));
                }
            }
        }
        for (index, place) in obsolete.into_iter().rev() {
            self.processes[index].in_transit.remove(place);
        }
    }

    /// Whether no row can ever again contain the token that this request requires.
    fn is_obsolete(&self, scenario: &Scenario, process: usize, request: &Message) -> bool {
        let token = match *request {
            Message::Renew(Renew { token, next, .. }) => {
                let holders = self.processes[process].holders();
                if holders.iter().any(|holder| renewal_of(holder).is_some_and(|r| r.next == next)) {
                    return false;
                }
                token
            }
            Message::Release(release, _) => release.token,
            _ => return false,
        };
        // A renewal with an older token of the same grant may be accepted after a restore.
        let renews = scenario.restores > 0 && matches!(request, Message::Renew(_));
        let is_it = |other: Token| if renews { other.is_same_grant(token) } else { other == token };
        let backups = self.backups.iter().flat_map(Contents::rows);
        let mut rows = self.contents.rows().chain(backups);
        let kept = rows.any(|row| row.token.is_some_and(is_it));
        let sent = self.processes.iter().any(|process| {
            let renews =
                |holder: &Holder| renewal_of(holder).is_some_and(|renewal| is_it(renewal.next));
            process.holders().iter().any(renews)
                || process.in_transit.iter().any(|message| match *message {
                    Message::Acquire { token: new, .. }
                    | Message::Renew(Renew { next: new, .. }) => is_it(new),
                    _ => false,
                })
        });
        !kept && !sent
    }

    /// Replaces the halves of all tokens with their numbers in the order of their occurrence.
    fn rename_tokens(&mut self) {
        let mut known = Vec::with_capacity(32);
        known.push(0);
        let mut number = |half: u64| {
            known.iter().position(|other| *other == half).unwrap_or_else(|| {
                known.push(half);
                known.len() - 1
            }) as u128
        };
        let mut rename = |token: &mut Token| {
            let [grant, renewal] = halves(*token).map(&mut number);
            *token = Token::from_bits(grant << 64 | renewal);
        };
        let rename_rows = |contents: &mut Contents, rename: &mut dyn FnMut(&mut Token)| {
            contents.update_rows(|row| {
                let mut token = row.token;
                token.iter_mut().for_each(&mut *rename);
                (token, row.expires, row.renewed)
            });
        };
        rename_rows(&mut self.contents, &mut rename);
        for process in &mut self.processes {
            for holder in &mut process.keeper.holders {
                if let Some(hold) = &mut holder.hold {
                    rename(&mut hold.grant.token);
                    if let Some(renewal) = &mut hold.renewal {
                        rename(&mut renewal.token);
                        rename(&mut renewal.next);
                    }
                }
                holder.acquiring.iter_mut().for_each(&mut rename);
            }
        }
        self.backups.iter_mut().for_each(|backup| rename_rows(backup, &mut rename));
        for process in &mut self.processes {
            process
                .in_transit
                .iter_mut()
                .flat_map(Message::tokens_mut)
                .flatten()
                .for_each(&mut rename);
            process.in_transit.sort_unstable();
        }
    }
}

/// Whether the order of the processes makes no difference.
fn is_symmetric(scenario: &Scenario) -> bool {
    // Without leases, the index of a process is its node.
    scenario.mutant != Mutant::Plain
        && scenario.leased == 1
        && scenario.identities.windows(2).all(|pair| pair[0] == pair[1])
}
