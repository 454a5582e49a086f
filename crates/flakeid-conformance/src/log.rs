use std::collections::{BTreeMap, BTreeSet};

use flakeid_protocol::operations::Listing;
use flakeid_protocol::{Grant, Release, Renew, Renewed, State, Token};

/// A record of everything that a store confirmed in one namespace. Later responses of the store are checked against
/// this record.
#[derive(Debug, Default)]
pub(super) struct Log {
    windows: Vec<Window>,
    /// The fence of each node in the last listing, unless the node has been released since then.
    seen: BTreeMap<u64, u64>,
    floor: u64,
    quarantined: BTreeSet<u64>,
}

/// The window of one grant.
#[derive(Debug)]
struct Window {
    node: u64,
    start: u64,
    end: u64,
    token: Token,
}

impl Log {
    pub(super) fn record_grant(&mut self, grant: &Grant) {
        let Grant { node, start, fence, token, .. } = *grant;
        assert!(start < fence, "the window is empty: {grant:?}");
        assert!(start >= self.floor, "I4: {grant:?} starts below the floor {}", self.floor);
        assert!(!self.quarantined.contains(&node), "I10: {grant:?} is for a quarantined node");
        self.windows.push(Window { node, start, end: fence, token });
    }

    pub(super) fn record_renewal(&mut self, request: &Renew, answer: &Renewed) {
        let tokens = [request.token, request.next];
        let found = self.windows.iter_mut().rev().find(|window| tokens.contains(&window.token));
        let window = found.expect("the confirmed renewal does not belong to a confirmed grant");
        assert_eq!(window.node, request.node);
        window.end = window.end.max(answer.fence);
        window.token = request.next;
    }

    /// Records a release with the current token. A release with an old token must not be recorded.
    pub(super) fn record_release(&mut self, request: &Release) {
        let window = self.windows.iter_mut().rev().find(|window| window.token == request.token);
        let window = window.expect("the release does not belong to a confirmed grant");
        window.end = request.used_until.clamp(window.start, window.end);
        self.seen.remove(&request.node);
    }

    pub(super) fn record_quarantine(&mut self, node: u64) {
        self.quarantined.insert(node);
    }

    pub(super) fn record_lift(&mut self, node: u64) {
        self.quarantined.remove(&node);
    }

    /// Records that an older copy of the data was restored. From then on, fences in listings may fall, but no new
    /// window may overlap the windows that were confirmed before.
    pub(super) fn record_restoration(&mut self) {
        self.seen.clear();
    }

    /// Returns the number of recorded grants.
    pub(super) fn grants(&self) -> usize {
        self.windows.len()
    }

    /// Returns the latest end of all recorded windows.
    pub(super) fn highest(&self) -> u64 {
        self.windows.iter().map(|window| window.end).max().unwrap_or(0)
    }

    /// Checks that the windows of each node are disjoint (I1, I4). Must not be called while a client is writing.
    pub(super) fn check_disjoint(&self) {
        let mut nodes: BTreeMap<u64, Vec<&Window>> = BTreeMap::new();
        for window in &self.windows {
            nodes.entry(window.node).or_default().push(window);
        }
        for windows in nodes.values_mut() {
            windows.sort_by_key(|window| (window.start, window.end));
            for pair in windows.windows(2) {
                assert!(pair[0].end <= pair[1].start, "I4: overlapping windows: {pair:?}");
            }
        }
    }

    /// Checks that the store still has every confirmed grant (I2). Must not be called after a restore.
    pub(super) fn check_kept(&self, listing: &Listing) {
        let rows: BTreeMap<_, _> = listing.rows.iter().map(|row| (row.node, row)).collect();
        let mut grants: BTreeMap<u64, u64> = BTreeMap::new();
        for window in &self.windows {
            let row = rows.get(&window.node);
            let row = row.unwrap_or_else(|| panic!("the row of {window:?} is missing"));
            assert!(row.fence >= window.end, "I2: {window:?} ends above the fence of {row:?}");
            *grants.entry(window.node).or_default() += 1;
        }
        for (node, count) in grants {
            let counted = rows[&node].grant;
            assert!(counted >= count, "node {node}: {count} grants confirmed, {counted} counted");
        }
    }

    /// Checks the invariants of every listing: fences do not fall (I3), tokens are unique (I7), fences are not
    /// too far ahead (I9), and quarantined nodes stay quarantined (I10).
    pub(super) fn check_listing(&mut self, listing: &Listing) {
        let namespace = &listing.namespace;
        let (layout, bounds) = (&namespace.layout, &namespace.bounds);
        assert!(namespace.floor >= self.floor, "the floor fell: {namespace:?}");
        self.floor = namespace.floor;

        let reach = bounds.max_window_ms + bounds.max_ahead_ms + bounds.max_skew_ms;
        let latest = listing.now + i64::try_from(reach).unwrap() + 1;
        // The tolerance is three ticks, because two durations and an instant are each rounded up to whole ticks.
        let highest = layout.tick_at(latest).map_or(layout.max_tick() + 1, |tick| tick + 3);
        let mut tokens = BTreeSet::new();
        let mut before = None;
        for row in &listing.rows {
            assert!(before < Some(row.node), "rows are not sorted by node: {row:?}");
            before = Some(row.node);
            assert!(row.node <= layout.max_node() && row.start <= row.fence, "{row:?}");
            assert!(row.fence <= highest, "I9: {row:?} is above {highest} at {}", listing.now);
            assert!(
                row.state == State::Held || row.token.is_none(),
                "a free row has a token: {row:?}"
            );
            if let Some(token) = row.token {
                assert!(tokens.insert(token), "I7: two nodes have one token: {row:?}");
            }
            let seen = self.seen.insert(row.node, row.fence).unwrap_or(0);
            assert!(row.fence >= seen, "I3: the fence fell from {seen} without a release: {row:?}");
        }
        for node in &self.quarantined {
            let row = listing.rows.iter().find(|row| row.node == *node);
            let row =
                row.unwrap_or_else(|| panic!("the row of quarantined node {node} is missing"));
            assert_eq!(row.state, State::Quarantined, "I10: {row:?}");
        }
    }
}
