//! Which machine this is, and what people call it.

use std::path::Path;

/// A hash of the machine's own ID, `None` where it has none (in many containers). Hashed, because
/// the ID itself is not to be shown around.
pub(crate) fn id() -> Option<u64> {
    ["/etc/machine-id", "/var/lib/dbus/machine-id"].into_iter().find_map(|path| read(path.as_ref()))
}

/// What this machine is called in a store's files: a hash of its own ID. Where it has none, `boot-`
/// and a hash of the kernel's boot: the containers of one host have that in common, and no other
/// host has it. `unknown` where there is neither, as on macOS.
#[cfg(all(feature = "sqlite", unix))]
pub(crate) fn name() -> String {
    if let Some(id) = id() {
        return format!("{id:016x}");
    }
    let boot = read("/proc/sys/kernel/random/boot_id".as_ref());
    boot.map_or_else(|| UNKNOWN.into(), |boot| format!("{NAMED_BY_BOOT}{boot:016x}"))
}

/// Whether a machine with the first name may have the second one now. Without an ID of its own its
/// name ends with the boot, so nobody can tell a reboot from another machine.
#[cfg(all(feature = "sqlite", unix))]
pub(crate) fn may_become(name: &str, later: &str) -> bool {
    let is_for_now = |name: &str| name == UNKNOWN || name.starts_with(NAMED_BY_BOOT);
    name == later || (is_for_now(name) && is_for_now(later))
}

#[cfg(all(feature = "sqlite", unix))]
const NAMED_BY_BOOT: &str = "boot-";

#[cfg(all(feature = "sqlite", unix))]
const UNKNOWN: &str = "unknown";

/// Where to begin looking among nodes that are equally cold: hosts that are merged later by
/// mistake then seldom share a node. 0 where the machine has no ID.
#[must_use]
pub fn machine_rotation() -> u64 {
    id().unwrap_or(0)
}

/// This host's name, for people to read in `flakeid leases ls`; empty if it has none.
#[must_use]
pub fn host_name() -> String {
    // Miri leaves bytes of what `uname` writes unwritten, and then objects to them.
    let name = if cfg!(miri) { "miri".into() } else { gethostname::gethostname() };
    let name = name.to_string_lossy().into_owned();
    name.chars().filter(|c| !c.is_control()).take(128).collect()
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

    #[cfg(all(feature = "sqlite", unix))]
    #[test]
    fn names_without_an_id_end_with_the_boot() {
        for (name, later, same) in [
            ("0123456789abcdef", "0123456789abcdef", true),
            ("0123456789abcdef", "fedcba9876543210", false),
            ("boot-0123456789abcdef", "boot-fedcba9876543210", true),
            // Of a build that knew no boots.
            ("unknown", "boot-fedcba9876543210", true),
            ("boot-0123456789abcdef", "unknown", true),
            ("boot-0123456789abcdef", "0123456789abcdef", false),
            ("0123456789abcdef", "boot-0123456789abcdef", false),
            ("unknown", "0123456789abcdef", false),
        ] {
            assert_eq!(super::may_become(name, later), same, "{name} {later}");
        }
        assert!(super::may_become(&super::name(), &super::name()));
        assert!(!super::name().contains('/'), "it is a part of a store's incarnation");
    }
}
