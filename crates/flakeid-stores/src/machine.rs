//! The identity of this machine, and its host name for human readers.

use std::path::Path;

/// Returns a hash of the machine ID, or `None` if the machine has no machine ID, as in many containers. The ID itself
/// is confidential, so only its hash is used.
pub(crate) fn id() -> Option<u64> {
    ["/etc/machine-id", "/var/lib/dbus/machine-id"].into_iter().find_map(|path| read(path.as_ref()))
}

/// Returns the name that identifies this machine in a store's files: a hash of the machine ID. Without a machine ID,
/// the name is `boot-` and a hash of the kernel's boot ID. All containers on a host share one boot ID, which is unique
/// to the host. Without either ID, as on macOS, the name is `unknown`.
#[cfg(all(feature = "sqlite", unix))]
pub(crate) fn name() -> String {
    if let Some(id) = id() {
        return format!("{id:016x}");
    }
    boot_id().map_or_else(|| UNKNOWN.into(), |boot| format!("{NAMED_BY_BOOT}{boot:016x}"))
}

/// Returns a hash of the kernel's boot ID, which all containers on a host share.
#[cfg(all(feature = "sqlite", unix))]
pub(crate) fn boot_id() -> Option<u64> {
    read("/proc/sys/kernel/random/boot_id".as_ref())
}

/// Whether a machine that was named `name` may now be named `later`. Without a machine ID, the name changes at each
/// boot, so a reboot cannot be distinguished from a move to another machine.
#[cfg(all(feature = "sqlite", unix))]
pub(crate) fn may_become(name: &str, later: &str) -> bool {
    let is_for_now = |name: &str| name == UNKNOWN || name.starts_with(NAMED_BY_BOOT);
    name == later || (is_for_now(name) && is_for_now(later))
}

#[cfg(all(feature = "sqlite", unix))]
const NAMED_BY_BOOT: &str = "boot-";

#[cfg(all(feature = "sqlite", unix))]
const UNKNOWN: &str = "unknown";

/// Returns the number that determines where this user on this machine begins the search among nodes that are equally
/// suitable. Different users and different machines have different numbers. Programs with separate embedded stores
/// therefore seldom use the same node, so few IDs collide if their data is merged by mistake.
#[must_use]
pub fn user_rotation() -> u64 {
    #[cfg(all(unix, feature = "sqlite"))]
    let user = rustix::process::geteuid().as_raw();
    #[cfg(not(all(unix, feature = "sqlite")))]
    let user = 0;
    rotation(id().unwrap_or(0), user)
}

fn rotation(machine: u64, user: u32) -> u64 {
    hash(&format!("{machine} {user}"))
}

/// Returns this host's name for human readers, for example in the output of `flakeid leases ls`. Returns an empty
/// string if the host has no name.
#[must_use]
pub fn host_name() -> String {
    // Under Miri, `uname` leaves some bytes of its buffer uninitialized, and reading these bytes is an error.
    let name = if cfg!(miri) { "miri".into() } else { gethostname::gethostname() };
    let name = name.to_string_lossy().into_owned();
    name.chars().filter(|c| !flakeid_core::is_invisible(*c)).take(128).collect()
}

fn read(path: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    // Before a machine's first boot, the file may contain the string `uninitialized`, which systemd writes.
    let unset = text.is_empty() || text == "uninitialized" || text.bytes().all(|b| b == b'0');
    (!unset).then(|| hash(text))
}

/// Computes the FNV-1a hash and then mixes its bits, so that the low bits affect the whole result.
fn hash(text: &str) -> u64 {
    let fnv = fnv_1a(text.bytes());
    (fnv ^ (fnv >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Computes the FNV-1a hash, which must be the same in all versions of this library.
pub(crate) fn fnv_1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{hash, id, rotation};

    #[test]
    fn machine_id_hashes_are_distinct_and_stable() {
        assert_ne!(hash("8d5c3f"), hash("8d5c3e"));
        assert_eq!(id(), id());
    }

    #[test]
    fn users_and_machines_begin_at_different_nodes() {
        let nodes = [(1, 0), (1, 1_000), (1, 1_001), (2, 0), (2, 1_000)];
        let nodes = nodes.map(|(machine, user)| rotation(machine, user) % 1_024);
        let distinct: std::collections::BTreeSet<u64> = nodes.into();
        assert_eq!(distinct.len(), nodes.len(), "{nodes:?}");
    }

    #[cfg(all(feature = "sqlite", unix))]
    #[test]
    fn changed_machine_name_is_accepted_only_if_there_is_no_machine_id() {
        for (name, later, same) in [
            ("0123456789abcdef", "0123456789abcdef", true),
            ("0123456789abcdef", "fedcba9876543210", false),
            ("boot-0123456789abcdef", "boot-fedcba9876543210", true),
            // Earlier builds, which did not use boot IDs, recorded `unknown`.
            ("unknown", "boot-fedcba9876543210", true),
            ("boot-0123456789abcdef", "unknown", true),
            ("boot-0123456789abcdef", "0123456789abcdef", false),
            ("0123456789abcdef", "boot-0123456789abcdef", false),
            ("unknown", "0123456789abcdef", false),
        ] {
            assert_eq!(super::may_become(name, later), same, "{name} {later}");
        }
        assert!(super::may_become(&super::name(), &super::name()));
        assert!(!super::name().contains('/'), "the name is a part of an incarnation");
    }
}
