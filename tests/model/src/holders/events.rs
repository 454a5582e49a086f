//! How what must be possible is seen in a world.

use flakeid_protocol::{Holder, Renewals, State};

use super::process::{Message, Process};
use super::scenario::{Event, NODES};
use super::world::World;

impl World {
    /// Whether this has just happened, or still is so.
    pub fn shows(&self, event: Event) -> bool {
        let processes = &self.processes;
        let any = |found: &dyn Fn(&Process) -> bool| processes.iter().any(found);
        let any_holder = |found: &dyn Fn(&Process, &Holder) -> bool| {
            any(&|process| process.holders().iter().any(|holder| found(process, holder)))
        };
        let contents = &self.contents;
        let restored = contents.is_restored();
        match event {
            Event::TwoIssue => processes.iter().filter(|p| p.last.is_some()).count() > 1,
            Event::TwoHold => {
                let holds = |p: &&Process| {
                    p.cell.as_ref().is_some_and(|cell| !cell.closed && cell.limit > 0)
                };
                processes.iter().filter(holds).count() > 1
            }
            Event::LateConfirmation => any_holder(&|process, holder| {
                holder.hold.as_ref().is_some_and(|hold| {
                    !hold.waiting
                        && hold.renewal.is_some_and(|renewal| {
                            process.mail.iter().any(|message| {
                                matches!(message, Message::Renewed { next, .. } if *next == renewal.next)
                            })
                        })
                })
            }),
            Event::MovesOn => any_holder(&|process, holder| {
                holder.hold.as_ref().is_some_and(|hold| hold.fenced_off)
                    && is_granted(process, holder)
            }),
            Event::Moves | Event::KeepsNode => any_holder(&|process, holder| {
                holder.hold.as_ref().is_some_and(|hold| {
                    let is_failing = hold.renewals != Renewals::Succeed;
                    !hold.fenced_off && is_failing == (event == Event::Moves)
                }) && is_granted(process, holder)
            }),
            Event::Ousted => any_holder(&|_, holder| holder.ousted),
            Event::Released => {
                (0..NODES).any(|node| self.contents.fence(node) < self.reached[node as usize])
            }
            Event::GrantsAfterRestoration => {
                restored
                    && contents
                        .rows()
                        .any(|row| contents.is_present(row) && row.start >= contents.floor())
            }
            Event::IssuesAfterRestoration => {
                restored && any(&|process| process.used_until() > contents.floor())
            }
            Event::Continues => any(&|process| {
                process.cell.as_ref().filter(|cell| !cell.closed).is_some_and(|cell| {
                    let rows = cell.nodes.iter().filter_map(|node| self.contents.row(*node));
                    let mut older =
                        rows.filter(|row| contents.is_present(row) && row.start < contents.floor());
                    restored && older.any(|row| cell.limit == row.fence)
                })
            }),
            Event::HasLastWindow => self.had_last_window,
            Event::Quarantined => any_holder(&|_, holder| {
                holder.hold.as_ref().is_some_and(|hold| {
                    let row = self.contents.row(hold.grant.node);
                    row.is_some_and(|row| row.state == State::Quarantined)
                })
            }),
            Event::ClosedWhileAsking => {
                any_holder(&|process, holder| holder.closing && is_granted(process, holder))
            }
            Event::WindowsDoNotMeet => any(&|process| {
                let holds: Vec<_> =
                    process.holders().iter().filter_map(|holder| holder.hold.as_ref()).collect();
                let start = holds.iter().map(|hold| hold.grant.start).max();
                let fence = holds.iter().map(|hold| hold.grant.fence).min();
                holds.len() > 1 && start.zip(fence).is_some_and(|(start, fence)| start + 2 > fence)
            }),
        }
    }
}

/// Whether an answer is on its way that grants what this holder asked for.
fn is_granted(process: &Process, holder: &Holder) -> bool {
    process.mail.iter().any(|message| {
        matches!(message, Message::Granted { token, .. } if Some(*token) == holder.acquiring)
    })
}
