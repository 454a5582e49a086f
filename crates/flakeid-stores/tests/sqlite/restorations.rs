//! Tests of the ways in which an operator can replace a database with an older copy.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use flakeid_conformance::StoreUnderTest;
use flakeid_conformance::campaigns::{Counts, restore_in_round};
use flakeid_core::Layout;
use flakeid_protocol::store::{Continuity, Fault};
use flakeid_protocol::{Acquire, Bounds, Grant, Identity, Namespace, Refusal, Renew, Token};

use crate::operations;
use crate::store_under_test::{Sqlite, Victim, copy};

pub const SPACE: &str = "space";

pub fn token() -> Token {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Token::from_bits(NEXT.fetch_add(1, Ordering::Relaxed).into())
}

pub fn now() -> i64 {
    flakeid_core::Clock::unix_ms(&flakeid_core::SystemClock)
}

pub fn request(node: u64) -> Acquire {
    Acquire {
        identity: Identity::Node(node),
        to: 1023,
        window_ms: 300,
        ..Acquire::any_node(Layout::TWITTER, token(), now())
    }
}

fn acquire(store: &Sqlite, node: u64) -> Result<Grant, Fault> {
    operations::acquire(&mut *store.connect(), SPACE, &request(node))
}

fn prepared() -> (Sqlite, Grant) {
    let store = Sqlite::new();
    let bounds =
        Bounds { max_window_ms: 300, max_ahead_ms: 200, max_skew_ms: 1500, quiet_ms: 3_400 };
    let wanted = Namespace { bounds, ..Namespace::new(SPACE, Layout::TWITTER) };
    operations::init(&mut *store.connect(), &wanted).unwrap();
    let grant = acquire(&store, 1).unwrap();
    (store, grant)
}

/// Whether the store refused a request because earlier windows may still be in use.
pub fn waits<T>(answer: &Result<T, Fault>) -> bool {
    matches!(answer, Err(Fault::Refused(Refusal::Restored { .. } | Refusal::FenceInFuture { .. })))
}

/// Checks that the store detected the restore. The store must refuse grants and renewals, and its floor must be at
/// least `highest`.
fn check_detected(store: &Sqlite, held: &Grant, highest: u64) {
    let listing = operations::list(&mut *store.connect(), SPACE);
    if let Ok(listing) = &listing {
        assert_eq!(listing.continuity, Continuity::Restored);
    }
    let renewal = Renew {
        node: held.node,
        token: held.token,
        next: token().of_grant(held.token),
        confirmed: held.fence,
        start: held.start,
        wanted: held.fence + 10,
        ttl_ms: 1,
        now: now(),
        waited_ms: 0,
    };
    let renewed = operations::renew(&mut *store.connect(), SPACE, &renewal);
    let void = Refusal::Restored { retry_after_ms: 0 };
    match renewed {
        Err(Fault::Refused(Refusal::Restored { .. } | Refusal::MissingNamespace)) => {}
        other => panic!("{other:?} instead of {void:?}"),
    }
    let refused = acquire(store, 5);
    assert!(waits(&refused), "{refused:?}");
    let floor = operations::list(&mut *store.connect(), SPACE).unwrap().namespace.floor;
    assert!(floor >= highest, "{floor} {highest}");
}

/// Acquires the given number of nodes, each in its own transaction, and returns the highest fence. Many transactions
/// cause `SQLite` to checkpoint the log into the database file.
fn acquire_more(store: &Sqlite, transactions: u64) -> u64 {
    (0..transactions).map(|node| acquire(store, 10 + node).unwrap().fence).max().unwrap()
}

/// Each round needs a new store, because a store that was restored also makes new namespaces wait.
#[test]
fn random_restores_repeat_no_tick() {
    for round in 0..50 {
        restore_in_round(&Sqlite::new(), round, &mut Counts::default()).unwrap();
    }
}

#[test]
fn overwriting_the_database_with_an_older_copy_is_detected() {
    for merged in [3, 140] {
        let (store, held) = prepared();
        let older = store.backup();
        let highest = acquire_more(&store, merged);
        store.restore(older);
        check_detected(&store, &held, highest);
    }
}

/// Checks that the store detects a restore of only the database file, which leaves the newer log in place.
#[test]
fn older_database_file_with_a_newer_log_is_detected() {
    for (before, after) in [(0, 3), (70, 3), (70, 140), (140, 70)] {
        let (store, held) = prepared();
        if before > 0 {
            acquire_more(&store, before);
        }
        let aside = store.beside(".copy");
        copy(&store.file(), &aside);
        let file = fs::read(&aside).unwrap();
        let highest = (0..after).map(|n| acquire(&store, 300 + n).unwrap().fence).max().unwrap();
        if fs::read(store.file()).unwrap() == file {
            // The database file is still identical to its copy, so restoring the copy loses nothing.
            copy(&aside, &store.file());
            acquire(&store, 5).unwrap();
            continue;
        }
        copy(&aside, &store.file());
        let mixed = acquire(&store, 5);
        match mixed {
            // SQLite itself may detect that the database file and the log do not match.
            Err(Fault::Rejected(text)) => assert!(text.contains("malformed"), "{text}"),
            Err(Fault::Refused(Refusal::Restored { .. })) => {
                check_floor(&store, highest);
            }
            other => panic!("{held:?} {other:?}"),
        }
    }
}

/// Checks that the floor is at least `highest`. Reads only the namespace, because `SQLite` may be unable to read a
/// mixture of old and new rows.
fn check_floor(store: &Sqlite, highest: u64) {
    let mut floor = None;
    let read = store.connect().transact(SPACE, &mut |ledger| {
        floor = ledger.namespace()?.map(|kept| kept.floor);
        Ok(())
    });
    read.unwrap();
    assert!(floor >= Some(highest), "{floor:?} {highest}");
}

#[test]
fn deletion_of_the_write_ahead_log_is_detected() {
    let (store, held) = prepared();
    acquire_more(&store, 70);
    let highest = (0..5).map(|n| acquire(&store, 300 + n).unwrap().fence).max().unwrap();
    fs::remove_file(store.beside("-wal")).unwrap();
    check_detected(&store, &held, highest);
}

/// Checks that replacing the database file with an identical copy counts as a restore, because another process may
/// still use the original file.
#[test]
fn identical_copy_replacing_the_database_counts_as_a_restore() {
    let (store, held) = prepared();
    let highest = acquire_more(&store, 3);
    copy(&store.file(), &store.beside(".copy"));
    fs::rename(store.beside(".copy"), store.file()).unwrap();
    check_detected(&store, &held, highest);
}

#[test]
fn deletion_of_the_database_file_is_detected() {
    for with_log in [false, true] {
        let (store, held) = prepared();
        let highest = acquire_more(&store, 3);
        fs::remove_file(store.file()).unwrap();
        if with_log {
            fs::remove_file(store.beside("-wal")).unwrap();
        }
        check_detected(&store, &held, highest);
        // A namespace that is created after the loss of the database must also wait, because the namespace may replace
        // a lost namespace.
        let other = operations::acquire(&mut *store.connect(), "other", &request(1));
        assert!(waits(&other), "{other:?}");
    }
}

/// Checks that a namespace that is missing from the restored copy must wait before it grants nodes again.
#[test]
fn namespace_missing_from_a_restored_copy_waits_before_granting_nodes() {
    let (store, _) = prepared();
    let older = store.backup();
    operations::acquire(&mut *store.connect(), "later", &request(1)).unwrap();
    store.restore(older);
    let again = operations::acquire(&mut *store.connect(), "later", &request(1));
    assert!(waits(&again), "{again:?}");
}

/// Copies a directory with all its files, and preserves the files' owners and timestamps.
fn copy_directory(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-Rp").args([from, to]).status().unwrap();
    assert!(copied.success());
}

/// Checks that restoring the whole directory, including the `-serial` file, is detected. No process uses the store
/// during the restore. On ext4, the restored files may have the same inode numbers as the deleted files.
#[test]
fn every_restore_of_the_whole_directory_is_detected() {
    let store = Sqlite::new();
    let acquire = || {
        let request = Acquire { window_ms: 10_000, ..request(1) };
        operations::acquire(&mut *store.connect(), SPACE, &request)
    };
    let held = acquire().unwrap();
    let directory = store.file().parent().unwrap().to_owned();
    let backup = tempfile::tempdir().unwrap();
    let backup = backup.path().join("copy");
    copy_directory(&directory, &backup);
    let after = acquire().unwrap();
    let inode = fs::metadata(store.file()).unwrap().ino();
    let put_back = || {
        fs::remove_dir_all(&directory).unwrap();
        copy_directory(&backup, &directory);
        fs::metadata(store.file()).unwrap().ino()
    };
    let same_inode = (0..20).any(|_| put_back() == inode);
    if let Ok(again) = acquire() {
        panic!(
            "two processes were granted the same window (same inode: {same_inode}): \
             {after:?}, {again:?}"
        );
    }
    // Restoring the same copy again must also be detected.
    put_back();
    check_detected(&store, &held, after.fence);
}

/// Checks that a store without its `-serial` file counts as restored, even if the restored copy contains only one
/// transaction.
#[test]
fn missing_serial_file_is_detected_even_after_a_single_transaction() {
    let store = Sqlite::new();
    acquire(&store, 1).unwrap();
    let older = store.backup();
    let highest = acquire(&store, 1).unwrap().fence;
    store.restore(older);
    fs::remove_file(store.beside("-serial")).unwrap();
    if let Ok(again) = acquire(&store, 1) {
        panic!("two processes were granted the same window: up to {highest}, {again:?}");
    }
    check_floor(&store, highest);
}

#[test]
fn deletion_of_the_serial_file_is_detected() {
    let (store, held) = prepared();
    let highest = acquire_more(&store, 3);
    fs::remove_file(store.beside("-serial")).unwrap();
    check_detected(&store, &held, highest);
}

#[test]
fn damaged_serial_file_is_rejected() {
    let (store, _) = prepared();
    fs::write(store.beside("-serial"), "7 7\n").unwrap();
    let Err(Fault::Rejected(text)) = acquire(&store, 5) else {
        panic!("the damaged file was accepted")
    };
    assert!(text.contains("-serial was edited or damaged"), "{text}");
}

/// Checks that the store detects each restore of the same copy, and begins a new run after each restore.
#[test]
fn each_restore_of_the_same_copy_is_detected() {
    let (store, held) = prepared();
    let keep = |store: &Sqlite| {
        ["", "-wal"].map(|suffix| fs::read(store.beside(suffix)).unwrap_or_default())
    };
    let older = keep(&store);
    let mut runs = Vec::new();
    for _ in 0..3 {
        let highest = operations::list(&mut *store.connect(), SPACE).unwrap().namespace.floor;
        for (suffix, bytes) in ["", "-wal"].into_iter().zip(&older) {
            fs::write(store.beside(suffix), bytes).unwrap();
        }
        if !runs.is_empty() {
            check_detected(&store, &held, highest);
        }
        acquire(&store, 6).ok();
        let listing = operations::list(&mut *store.connect(), SPACE).unwrap();
        runs.push(listing.namespace.incarnation);
    }
    assert_ne!(runs[1], runs[2]);
}

/// Checks that a transaction is rolled back if its writer is killed, but that the rollback does not count as a restore.
#[test]
fn killed_writer_is_not_mistaken_for_a_restore() {
    let (store, held) = prepared();
    Victim::of(&store.url()).kill();
    let listing = operations::list(&mut *store.connect(), SPACE).unwrap();
    assert_eq!(listing.continuity, Continuity::Same);
    assert_eq!(listing.rows[0].token, Some(held.token));
    acquire(&store, 5).unwrap();
}

/// Checks that the store does not count as restored if a writer was killed after committing but before recording the
/// serial number. The commit remains in effect, although the writer did not confirm it.
#[test]
fn unrecorded_serial_number_is_not_mistaken_for_a_restore() {
    let (store, held) = prepared();
    let before = fs::read(store.beside("-serial")).unwrap();
    let grant = acquire(&store, 5).unwrap();
    fs::write(store.beside("-serial"), before).unwrap();
    let listing = operations::list(&mut *store.connect(), SPACE).unwrap();
    assert_eq!(listing.continuity, Continuity::Same);
    assert_eq!(listing.rows.iter().map(|row| row.node).collect::<Vec<_>>(), [1, 5]);
    let renewal = Renew {
        node: 5,
        token: grant.token,
        next: token().of_grant(grant.token),
        confirmed: grant.fence,
        start: grant.start,
        wanted: grant.fence,
        ttl_ms: 1,
        now: now(),
        waited_ms: 0,
    };
    operations::renew(&mut *store.connect(), SPACE, &renewal).unwrap();
    assert_eq!(listing.rows[0].token, Some(held.token));
}
