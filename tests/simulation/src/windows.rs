//! The windows of all generators, checked for overlaps: no ID is issued twice (I1) if no two generators may issue IDs
//! of the same node and tick.

/// The half-open range of ticks of one node in which one generator may issue IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start: u64,
    pub end: u64,
    pub holder: u32,
}

/// The windows of one node, sorted by their starts.
#[derive(Clone, Debug, Default)]
struct OfNode {
    latest: Option<Window>,
    /// All other windows, including those that have ended.
    earlier: Vec<Window>,
}

/// The windows of all nodes of an ID space. No used window is ever removed, so an overlap is detected however late it
/// occurs.
pub struct Windows(Vec<OfNode>);

/// Two windows of one node that overlap.
pub type Overlap = (Window, Window);

impl Windows {
    pub fn new(nodes: u64) -> Self {
        Self(vec![OfNode::default(); nodes as usize])
    }

    pub fn latest(&self, node: u64) -> Option<Window> {
        self.0[node as usize].latest
    }

    /// Adds the window of a new generator.
    ///
    /// # Errors
    /// The windows that overlap.
    pub fn open(&mut self, node: u64, new: Window) -> Result<(), Overlap> {
        let OfNode { latest, earlier } = &mut self.0[node as usize];
        if let Some(latest) = latest.filter(|latest| new.start < latest.start) {
            let place = earlier.partition_point(|window| window.start <= new.start);
            let after = earlier.get(place).copied().unwrap_or(latest);
            let before = place.checked_sub(1).map(|place| earlier[place]);
            disjoint(before.unwrap_or(new), new)?;
            disjoint(new, after)?;
            earlier.insert(place, new);
            return Ok(());
        }
        if let Some(latest) = *latest {
            disjoint(latest, new)?;
            earlier.push(latest);
        }
        *latest = Some(new);
        Ok(())
    }

    /// Moves the end of a window to a later tick.
    ///
    /// # Errors
    /// The windows that overlap.
    pub fn extend(&mut self, node: u64, holder: u32, start: u64, end: u64) -> Result<(), Overlap> {
        let OfNode { latest, earlier } = &mut self.0[node as usize];
        if let Some(latest) = latest.as_mut().filter(|latest| is_it(latest, holder, start)) {
            latest.end = latest.end.max(end);
            return Ok(());
        }
        if let Some(place) = earlier.iter().rposition(|window| is_it(window, holder, start)) {
            let after = earlier.get(place + 1).copied().or(*latest);
            let window = &mut earlier[place];
            window.end = window.end.max(end);
            disjoint(*window, after.unwrap_or(Window { start: u64::MAX, ..*window }))?;
        }
        Ok(())
    }

    /// Moves the end of a window to the tick after the last used tick, because its generator has ended. Removes the
    /// window if the generator has not issued an ID.
    pub fn close(&mut self, node: u64, holder: u32, start: u64, used_until: u64) {
        let OfNode { latest, earlier } = &mut self.0[node as usize];
        let end = used_until.max(start);
        if let Some(window) = latest.as_mut().filter(|latest| is_it(latest, holder, start)) {
            window.end = window.end.min(end);
            if window.end == start {
                *latest = earlier.pop();
            }
        } else if let Some(place) = earlier.iter().rposition(|window| is_it(window, holder, start))
        {
            let window = &mut earlier[place];
            window.end = window.end.min(end);
            if window.end == start {
                earlier.remove(place);
            }
        }
    }
}

fn is_it(window: &Window, holder: u32, start: u64) -> bool {
    window.holder == holder && window.start == start
}

/// Checks that a window ends before a later window starts.
fn disjoint(first: Window, second: Window) -> Result<(), Overlap> {
    if first == second || first.end <= second.start { Ok(()) } else { Err((first, second)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn window(start: u64, end: u64, holder: u32) -> Window {
        Window { start, end, holder }
    }

    #[test]
    fn windows_that_share_a_tick_are_detected() {
        let mut windows = Windows::new(2);
        windows.open(1, window(10, 20, 1)).unwrap();
        windows.open(1, window(30, 40, 2)).unwrap();
        windows.open(0, window(10, 40, 3)).unwrap();
        for (start, end) in [(39, 50), (19, 21), (20, 31), (5, 11), (5, 50), (12, 13), (32, 33)] {
            assert!(windows.open(1, window(start, end, 4)).is_err(), "{start} to {end}");
        }
        windows.open(1, window(20, 30, 5)).unwrap();
        windows.open(1, window(5, 10, 6)).unwrap();
    }

    #[test]
    fn extended_window_that_reaches_a_later_window_is_detected() {
        let mut windows = Windows::new(1);
        windows.open(0, window(10, 20, 1)).unwrap();
        windows.open(0, window(30, 40, 2)).unwrap();
        windows.extend(0, 1, 10, 30).unwrap();
        assert!(windows.extend(0, 1, 10, 31).is_err());
        windows.extend(0, 2, 30, 99).unwrap();
    }

    #[test]
    fn ticks_after_the_last_used_tick_of_an_ended_generator_may_be_used_again() {
        let mut windows = Windows::new(1);
        windows.open(0, window(10, 20, 1)).unwrap();
        windows.close(0, 1, 10, 15);
        assert!(windows.open(0, window(14, 20, 2)).is_err());
        windows.open(0, window(15, 20, 2)).unwrap();
        windows.close(0, 2, 15, 0);
        windows.open(0, window(15, 20, 3)).unwrap();
        assert!(windows.open(0, window(15, 20, 4)).is_err());
    }
}
