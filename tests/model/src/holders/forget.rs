//! Differences that nothing can ever depend on are forgotten, so that fewer worlds are left to try:
//! letters that nobody reads, times that have passed, which random bits a token has, and which of
//! two equal processes is which.

use flakeid_protocol::{Holder, Renewals, Token};

use super::mutant::Mutant;
use super::process::{Message, Process, renewal_of};
use super::scenario::Scenario;
use super::world::World;
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
                // Its holder cannot go on after a restoration, unless a mutant lets it.
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
        self.burn_letters(scenario, slowest);
        if scenario.is_symmetric() {
            self.processes
                .sort_by(|a, b| (&a.cell, a.last, &a.mail).cmp(&(&b.cell, b.last, &b.mail)));
        }
        self.rename_tokens();
    }

    /// Answers that the holder does not care for any more, and requests that can only be refused
    /// without anybody caring.
    fn burn_letters(&mut self, scenario: &Scenario, slowest: i64) {
        let oldest = slowest - MAX_SKEW_MS.cast_signed();
        for process in &mut self.processes {
            let Process { keeper, mail, .. } = process;
            let holders = &keeper.holders;
            let acquiring = |token| holders.iter().any(|holder| holder.acquiring == Some(token));
            let renewing = |token| {
                holders.iter().any(|holder| renewal_of(holder).is_some_and(|r| r.next == token))
            };
            mail.retain(|message| match *message {
                // No clock of the store's will be near it again; the time-out says as much.
                Message::Acquire { now, .. } => now >= oldest,
                Message::Granted { token, .. } | Message::NotGranted { token } => acquiring(token),
                Message::Renewed { next, .. } | Message::NotRenewed { next, .. } => renewing(next),
                Message::Renew { .. } | Message::Release { .. } => true,
            });
        }
        // All are looked at before the first one is burnt.
        let mut moot = Vec::new();
        for (index, process) in self.processes.iter().enumerate() {
            for (place, message) in process.mail.iter().enumerate() {
                if self.is_moot(scenario, index, message) {
                    moot.push((index, place));
                }
            }
        }
        for (index, place) in moot.into_iter().rev() {
            self.processes[index].mail.remove(place);
        }
    }

    /// Whether no row can ever have the token again that this request is for.
    fn is_moot(&self, scenario: &Scenario, process: usize, request: &Message) -> bool {
        let token = match *request {
            Message::Renew { token, next, .. } => {
                let holders = self.processes[process].holders();
                if holders.iter().any(|holder| renewal_of(holder).is_some_and(|r| r.next == next)) {
                    return false;
                }
                token
            }
            Message::Release { token, .. } => token,
            _ => return false,
        };
        // A renewal of an older token may count after a restoration.
        let renews = scenario.restorations > 0 && matches!(request, Message::Renew { .. });
        let is_it = |other: Token| if renews { other.is_same_grant(token) } else { other == token };
        let backups = self.backups.iter().flat_map(Contents::rows);
        let mut rows = self.contents.rows().chain(backups);
        let kept = rows.any(|row| row.token.is_some_and(is_it));
        let sent = self.processes.iter().any(|process| {
            let renews =
                |holder: &Holder| renewal_of(holder).is_some_and(|renewal| is_it(renewal.next));
            process.holders().iter().any(renews)
                || process.mail.iter().any(|message| match *message {
                    Message::Acquire { token: new, .. } | Message::Renew { next: new, .. } => {
                        is_it(new)
                    }
                    _ => false,
                })
        });
        !kept && !sent
    }

    /// The halves of tokens are numbered in the order in which they are met.
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
            process.mail.iter_mut().flat_map(Message::tokens_mut).flatten().for_each(&mut rename);
            process.mail.sort_unstable();
        }
    }
}
