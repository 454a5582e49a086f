//! The signs in a world by which the model detects that an event has occurred.

use flakeid_protocol::{Holder, Renewals, State};

use super::process::Process;
use super::world::{NODES, World};
use crate::message::Message;
use crate::scenario::Event;

impl World {
    /// Whether an event has just occurred, or its state still lasts.
    pub fn has_happened(&self, event: Event) -> bool {
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
                            process.in_transit.iter().any(|message| {
                                matches!(message, Message::Renewed { next, .. } if *next == renewal.next)
                            })
                        })
                })
            }),
            Event::MovesOn => any_holder(&|process, holder| {
                holder.hold.as_ref().is_some_and(|hold| hold.fenced_off)
                    && is_granted(process, holder)
            }),
            Event::Leaves => any_holder(&|process, holder| {
                let hold = holder.hold.as_ref();
                hold.is_some_and(|hold| hold.renewals == Renewals::Leave)
                    && is_granted(process, holder)
            }),
            Event::Moves | Event::KeepsNode => any_holder(&|process, holder| {
                holder.hold.as_ref().is_some_and(|hold| {
                    let is_failing = hold.renewals != Renewals::Succeed;
                    !hold.fenced_off && is_failing == (event == Event::Moves)
                }) && is_granted(process, holder)
            }),
            Event::Displaced => any_holder(&|_, holder| holder.displaced),
            Event::Released => {
                (0..NODES).any(|node| self.contents.fence(node) < self.reached[node as usize])
            }
            Event::GrantsAfterRestore => {
                restored
                    && contents
                        .rows()
                        .any(|row| contents.is_present(row) && row.start >= contents.floor())
            }
            Event::IssuesAfterRestore => {
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
            Event::ClosedWhileAcquiring => {
                any_holder(&|process, holder| holder.closing && is_granted(process, holder))
            }
            Event::WindowsDoNotMeet => any(&|process| {
                let holds: Vec<_> =
                    process.holders().iter().filter_map(|holder| holder.hold.as_ref()).collect();
                let start = holds.iter().map(|hold| hold.grant.start).max();
                let fence = holds.iter().map(|hold| hold.grant.fence).min();
                holds.len() > 1 && start.zip(fence).is_some_and(|(start, fence)| start + 2 > fence)
            }),
            _ => false,
        }
    }
}

/// Whether a response that grants this holder's request is in transit.
fn is_granted(process: &Process, holder: &Holder) -> bool {
    process.in_transit.iter().any(|message| {
        matches!(message, Message::Granted(grant) if Some(grant.token) == holder.acquiring)
    })
}
