//! What must never happen, and what must be possible.

use flakeid_lease::protocol::Holder;

use crate::contents::{Incarnation, NODES};
use crate::process::{Message, Process};
use crate::world::World;

/// As numbered in DESIGN.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invariant {
    I1,
    I2,
    I3,
    I4,
    I5,
    I6,
    I7,
    I8,
    I9,
    I10,
    I14,
}

impl Invariant {
    pub const ALL: [Self; 11] = [
        Self::I1,
        Self::I2,
        Self::I3,
        Self::I4,
        Self::I5,
        Self::I6,
        Self::I7,
        Self::I8,
        Self::I9,
        Self::I10,
        Self::I14,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::I1 => "I1 no ID twice",
            Self::I2 => "I2 issued below a persisted fence",
            Self::I3 => "I3 a fence falls only in a release",
            Self::I4 => "I4 a grant starts at the fence",
            Self::I5 => "I5 the limit is persisted",
            Self::I6 => "I6 the limit only rises, nothing after CLOSED",
            Self::I7 => "I7 one token per node",
            Self::I8 => "I8 IDs of a process increase",
            Self::I9 => "I9 fences are near the clock",
            Self::I10 => "I10 quarantined nodes are not granted",
            Self::I14 => "I14 nobody else was granted the node of a holder that goes on",
        }
    }
}

/// What must be found in a scenario, so that it does not hold for want of anything happening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    TwoIssue,
    TwoHold,
    LateConfirmation,
    MovesOn,
    Ousted,
    Released,
    GrantsAfterRestoration,
    IssuesAfterRestoration,
    Quarantined,
    ClosedWhileAsking,
    WindowsDoNotMeet,
    Continues,
    HasLastWindow,
}

impl Event {
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoIssue => "two processes issue",
            Self::TwoHold => "two processes hold a node",
            Self::LateConfirmation => "a renewal is confirmed after it timed out",
            Self::MovesOn => "a holder that was fenced off gets another grant",
            Self::Ousted => "a holder of a fixed node is ousted",
            Self::Released => "a node is released below what was granted",
            Self::GrantsAfterRestoration => "a restored store grants",
            Self::IssuesAfterRestoration => "a restored store's grant is used",
            Self::Quarantined => "a held node is quarantined",
            Self::ClosedWhileAsking => "a grant comes after the end",
            Self::WindowsDoNotMeet => {
                "two nodes are held whose windows have at most a tick in common"
            }
            Self::Continues => "a holder goes on after a restoration",
            Self::HasLastWindow => "a holder has a last window after a restoration",
        }
    }

    pub fn happens(self, world: &World) -> bool {
        let processes = &world.processes;
        let any = |found: &dyn Fn(&Process) -> bool| processes.iter().any(found);
        let any_holder = |found: &dyn Fn(&Process, &Holder) -> bool| {
            any(&|process| process.holders.iter().any(|holder| found(process, holder)))
        };
        let incarnation = world.contents.incarnation;
        let restored = incarnation > Incarnation::default();
        match self {
            Self::TwoIssue => processes.iter().filter(|p| p.last.is_some()).count() > 1,
            Self::TwoHold => {
                let holds = |p: &&Process| {
                    p.cell.as_ref().is_some_and(|cell| !cell.closed && cell.limit > 0)
                };
                processes.iter().filter(holds).count() > 1
            }
            Self::LateConfirmation => any_holder(&|process, holder| {
                holder.hold.as_ref().is_some_and(|hold| {
                    !hold.waiting
                        && hold.renewal.is_some_and(|renewal| {
                            process.mail.iter().any(|message| {
                                matches!(message, Message::Renewed { next, .. } if *next == renewal.next)
                            })
                        })
                })
            }),
            Self::MovesOn => any_holder(&|process, holder| {
                holder.hold.as_ref().is_some_and(|hold| hold.fenced_off)
                    && is_granted(process, holder)
            }),
            Self::Ousted => any_holder(&|_, holder| holder.ousted),
            Self::Released => {
                (0..NODES).any(|node| world.contents.fence(node) < world.reached[node as usize])
            }
            Self::GrantsAfterRestoration => {
                restored
                    && world.contents.rows.iter().any(|row| {
                        row.incarnation == incarnation && row.start >= world.contents.floor
                    })
            }
            Self::IssuesAfterRestoration => {
                restored && any(&|process| process.used_until() > world.contents.floor)
            }
            Self::Continues => any(&|process| {
                process.cell.as_ref().filter(|cell| !cell.closed).is_some_and(|cell| {
                    let rows = cell.nodes.iter().filter_map(|node| world.contents.row(*node));
                    let mut older = rows.filter(|row| {
                        row.incarnation == incarnation && row.start < world.contents.floor
                    });
                    restored && older.any(|row| cell.limit == row.fence)
                })
            }),
            Self::HasLastWindow => world.had_last_window,
            Self::Quarantined => any_holder(&|_, holder| {
                holder.hold.as_ref().is_some_and(|hold| {
                    let row = world.contents.row(hold.grant.node);
                    row.is_some_and(|row| row.state == flakeid_lease::protocol::State::Quarantined)
                })
            }),
            Self::ClosedWhileAsking => {
                any_holder(&|process, holder| holder.closing && is_granted(process, holder))
            }
            Self::WindowsDoNotMeet => any(&|process| {
                let holds: Vec<_> =
                    process.holders.iter().filter_map(|holder| holder.hold.as_ref()).collect();
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
