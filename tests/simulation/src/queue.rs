//! The events of a simulation in the order of their times: a timer wheel with a slot for each millisecond.

use std::collections::BTreeMap;

/// The number of slots. Most events are due within one window, which is shorter.
const SLOTS: u64 = 8_192;

/// A queue of events. Events of the same millisecond happen in the order in which they were added.
pub struct Queue<E> {
    now: u64,
    /// The events of the next milliseconds, by the time modulo the number of slots.
    slots: Vec<Vec<E>>,
    /// The number of events in the current slot that have already happened.
    done: usize,
    /// The events that are not due within the time that the slots cover.
    far: BTreeMap<u64, Vec<E>>,
}

impl<E: Copy> Queue<E> {
    pub fn new() -> Self {
        let slots = (0..SLOTS).map(|_| Vec::new()).collect();
        Self { now: 0, slots, done: 0, far: BTreeMap::new() }
    }

    /// Adds an event at a time in milliseconds. An event in the past is due immediately.
    pub fn push(&mut self, at: u64, event: E) {
        let at = at.max(self.now);
        if at - self.now < SLOTS {
            self.slots[(at % SLOTS) as usize].push(event);
        } else {
            self.far.entry(at).or_default().push(event);
        }
    }

    /// Returns the next events that are due in the current millisecond.
    pub fn current(&self) -> &[E] {
        let slot = &self.slots[(self.now % SLOTS) as usize];
        slot.get(self.done..).unwrap_or_default()
    }

    /// Returns the next event and its time, or `None` if no event is due before `end`.
    pub fn pop(&mut self, end: u64) -> Option<(u64, E)> {
        loop {
            let slot = &mut self.slots[(self.now % SLOTS) as usize];
            if let Some(event) = slot.get(self.done) {
                self.done += 1;
                return Some((self.now, *event));
            }
            slot.clear();
            self.done = 0;
            if self.now + 1 >= end {
                return None;
            }
            self.now += 1;
            while let Some(first) = self.far.first_entry() {
                if *first.key() - self.now >= SLOTS {
                    break;
                }
                let (at, events) = first.remove_entry();
                self.slots[(at % SLOTS) as usize].extend(events);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_returns_events_in_the_order_of_time_and_addition() {
        let mut queue = Queue::new();
        for (at, event) in [(SLOTS * 3, 'e'), (5, 'b'), (0, 'a'), (5, 'c'), (SLOTS, 'd')] {
            queue.push(at, event);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(SLOTS * 4)).collect();
        let times = [(0, 'a'), (5, 'b'), (5, 'c'), (SLOTS, 'd'), (SLOTS * 3, 'e')];
        assert_eq!(order, times);
    }

    #[test]
    fn event_added_at_the_current_time_happens_in_the_same_millisecond() {
        let mut queue = Queue::new();
        queue.push(7, 'a');
        assert_eq!(queue.pop(100), Some((7, 'a')));
        queue.push(3, 'b');
        assert_eq!(queue.pop(100), Some((7, 'b')));
        assert_eq!(queue.pop(100), None);
    }
}
