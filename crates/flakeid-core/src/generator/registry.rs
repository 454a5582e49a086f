//! The registry of the nodes that this process has used. Through the registry, generators of the same node share one
//! position while the process runs.

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::cell::Cell;
use crate::field::Span;
use crate::fork::Limit;
use crate::sync::{AtomicPtr, NativeOnly, Ordering};
use crate::{Error, Layout};

/// An append-only hash table of nodes. The table has no lock, because a lock that another thread holds at the moment of
/// a fork would never be released in the child. Entries are never removed, because a new generator of a node has to
/// continue at the node's last position.
pub(super) struct Registry<const BUCKETS: usize> {
    buckets: [AtomicPtr<Entry>; BUCKETS],
}

/// The key of an ID space: the bit positions of the fields, the epoch and the unit of a layout. Layouts that differ
/// only in the width of the time field, in their names, or in the split of the node share one ID space.
#[derive(Clone, Copy, PartialEq, Eq)]
struct IdSpace {
    epoch: i64,
    unit_ms: u64,
    time_shift: u8,
    node: Span,
    clock_sequence: Span,
    sequence: Span,
}

impl IdSpace {
    fn of(layout: &Layout) -> Self {
        let (time, node, clock_sequence, sequence) = layout.spans();
        Self {
            epoch: layout.epoch(),
            unit_ms: layout.unit_ms(),
            time_shift: time.shift,
            node,
            clock_sequence,
            sequence,
        }
    }
}

struct Entry {
    space: IdSpace,
    node: u64,
    /// All nodes that share the cell, including `node`.
    nodes: NativeOnly<Vec<u64>>,
    cell: Arc<Cell>,
    /// The limit shows whether the entry was created by this process or, before a fork, by a parent process. The limit
    /// does not restrict any positions.
    birth: Limit,
    older: *const Entry,
}

#[cfg(not(loom))]
pub(super) static REGISTRY: Registry<256> =
    Registry { buckets: [const { AtomicPtr::new(core::ptr::null_mut()) }; 256] };

impl<const BUCKETS: usize> Registry<BUCKETS> {
    #[cfg(all(test, loom))]
    pub(super) fn new() -> Self {
        Self { buckets: core::array::from_fn(|_| AtomicPtr::new(core::ptr::null_mut())) }
    }

    /// Returns the cell that `nodes` share in the layout's ID space. Creates the cell with `make` if this is the first
    /// use of the nodes in this process. `nodes` must be in increasing order.
    ///
    /// # Errors
    /// [`Forked`](crate::ErrorKind::Forked) if the parent process used one of the nodes first;
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if one of the nodes has already been used alone or in another
    /// set.
    pub(super) fn cell(
        &self,
        layout: &Layout,
        nodes: &[u64],
        make: impl FnOnce() -> Cell,
    ) -> Result<Arc<Cell>, Error> {
        let space = IdSpace::of(layout);
        // All nodes are checked before an entry is added, so that a rejected set of nodes leaves no entries behind,
        // except in a race.
        for node in nodes {
            if let Some(entry) = self.find(space, *node) {
                entry.shared(nodes)?;
            }
        }
        let first = nodes.first().and_then(|node| self.find(space, *node));
        let mut cell = match first {
            Some(entry) => entry.shared(nodes)?,
            None => Arc::new(make()),
        };
        // The nodes are added in order. If two threads add the same nodes, one thread is the first to add the first
        // node, and both threads then use the cell of that thread.
        for node in nodes {
            cell = self.find_or_add(space, *node, nodes, cell)?;
        }
        Ok(cell)
    }

    /// Returns the cell of a node's entry. Adds an entry with `cell` if the node has no entry.
    fn find_or_add(
        &self,
        space: IdSpace,
        node: u64,
        nodes: &[u64],
        cell: Arc<Cell>,
    ) -> Result<Arc<Cell>, Error> {
        let bucket = self.bucket(space, node);
        let mut newest = bucket.load(Ordering::Acquire);
        let find = |newest| entries(newest).find(|e| e.space == space && e.node == node);
        if let Some(entry) = find(newest) {
            return entry.shared(nodes);
        }
        let mut new = Box::new(Entry {
            space,
            node,
            nodes: NativeOnly::new(|| Some(nodes.into())),
            cell: Arc::clone(&cell),
            birth: Limit::new(1),
            older: newest,
        });
        loop {
            let pointer = Box::into_raw(new);
            match bucket.compare_exchange(newest, pointer, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(cell),
                Err(found) => newest = found,
            }
            new = reclaim(pointer);
            if let Some(entry) = find(newest) {
                return entry.shared(nodes);
            }
            new.older = newest;
        }
    }

    fn bucket(&self, space: IdSpace, node: u64) -> &AtomicPtr<Entry> {
        &self.buckets[bucket_of(space, node, BUCKETS)]
    }

    fn find(&self, space: IdSpace, node: u64) -> Option<&'static Entry> {
        let newest = self.bucket(space, node).load(Ordering::Acquire);
        entries(newest).find(|entry| entry.space == space && entry.node == node)
    }
}

impl Entry {
    fn shared(&self, nodes: &[u64]) -> Result<Arc<Cell>, Error> {
        if !self.birth.is_ours() {
            return Err(Error::forked());
        }
        if self.nodes.get().is_some_and(|together| together != nodes) {
            return Err(Error::invalid_option(
                "nodes",
                &format!(
                    "this process has used node {} in another set of nodes; within a process, \
                     use a node either alone or always with the same other nodes",
                    self.node
                ),
            ));
        }
        Ok(Arc::clone(&self.cell))
    }
}

#[allow(unsafe_code)]
fn entries(newest: *const Entry) -> impl Iterator<Item = &'static Entry> {
    // SAFETY: every non-null pointer in a bucket and in `older` came from `Box::into_raw`, was published by a
    // compare-and-swap and is never freed.
    let read = |entry: *const Entry| unsafe { entry.as_ref() };
    core::iter::successors(read(newest), move |entry| read(entry.older))
}

#[allow(unsafe_code)]
#[expect(clippy::unnecessary_box_returns, reason = "the caller may publish the box again")]
fn reclaim(entry: *mut Entry) -> Box<Entry> {
    // SAFETY: the pointer came from `Box::into_raw` and was not published, so no other thread has a copy of it.
    unsafe { Box::from_raw(entry) }
}

fn bucket_of(space: IdSpace, node: u64, buckets: usize) -> usize {
    let hash = super::start::split_mix(node ^ space.epoch.cast_unsigned().rotate_left(32));
    (hash % buckets as u64) as usize
}
