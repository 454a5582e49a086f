//! Which machine this is.

use std::path::Path;

/// A hash of the machine's own ID, `None` where it has none (in many containers). Hashed, because
/// the ID itself is not to be shown around.
#[cfg_attr(not(unix), expect(dead_code, reason = "the files are Unix's"))]
pub(crate) fn id() -> Option<u64> {
    ["/etc/machine-id", "/var/lib/dbus/machine-id"].into_iter().find_map(|path| read(path.as_ref()))
}

/// Where to begin looking among nodes that are equally cold: hosts that are merged later by
/// mistake then seldom share a node. 0 where the machine has no ID.
#[must_use]
pub fn machine_rotation() -> u64 {
    id().unwrap_or(0)
}

fn read(path: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    // What systemd writes before the first start.
    let unset = text.is_empty() || text == "uninitialized" || text.bytes().all(|b| b == b'0');
    (!unset).then(|| hash(text))
}

/// FNV-1a with a finish that spreads the low bits.
fn hash(text: &str) -> u64 {
    let fnv = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (fnv ^ (fnv >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::{hash, id};

    #[test]
    fn machines_differ_and_stay() {
        assert_ne!(hash("8d5c3f"), hash("8d5c3e"));
        assert_eq!(id(), id());
    }
}
