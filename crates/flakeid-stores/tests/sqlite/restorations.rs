//! Tests of databases that an operator replaced by an older copy, in every way.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use flakeid_conformance::StoreUnderTest;
use flakeid_core::Layout;
use flakeid_protocol::store::{Continuity, Fault};
use flakeid_protocol::{Acquire, Bounds, Grant, Identity, Namespace, Owner, Refusal, Renew, Token};

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
        layout: Layout::TWITTER,
        identity: Identity::Node(node),
        from: 0,
        to: 1023,
        rotation: 0,
        block_bits: 0,
        reuse: true,
        token: token(),
        window_ms: 300,
        ttl_ms: 60_000,
        now: now(),
        waited_ms: 0,
        after: 0,
        owner: Owner::default(),
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

/// Whether the store refused because earlier windows may still be in use.
pub fn waits<T>(answer: &Result<T, Fault>) -> bool {
    matches!(answer, Err(Fault::Refused(Refusal::Restored { .. } | Refusal::FenceInFuture { .. })))
}

/// Checks that the store detected the restore: it refuses grants and renewals, and its floor is above all windows.
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

/// Acquires other nodes in the given number of transactions, and returns the highest fence. With many
/// transactions `SQLite` merges the log into the file.
fn acquire_more(store: &Sqlite, transactions: u64) -> u64 {
    (0..transactions).map(|node| acquire(store, 10 + node).unwrap().fence).max().unwrap()
}

#[test]
fn older_copy_over_the_file_is_detected() {
    for merged in [3, 140] {
        let (store, held) = prepared();
        let older = store.backup();
        let highest = acquire_more(&store, merged);
        store.restore(older);
        check_detected(&store, &held, highest);
    }
}

/// Restores only the file, so that the newer log stays next to the older file.
#[test]
fn older_file_with_the_newer_log_is_detected() {
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
            // The file has not changed since the copy, so that file and log still match and nothing is lost.
            copy(&aside, &store.file());
            acquire(&store, 5).unwrap();
            continue;
        }
        copy(&aside, &store.file());
        let mixed = acquire(&store, 5);
        match mixed {
            // SQLite may detect that the file and the log do not match.
            Err(Fault::Rejected(text)) => assert!(text.contains("malformed"), "{text}"),
            Err(Fault::Refused(Refusal::Restored { .. })) => {
                check_floor(&store, highest);
            }
            other => panic!("{held:?} {other:?}"),
        }
    }
}

/// Checks that the floor is above `highest`. Reads no rows, because they may be a mixture that `SQLite` cannot read.
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
fn deleted_log_is_detected() {
    let (store, held) = prepared();
    acquire_more(&store, 70);
    let highest = (0..5).map(|n| acquire(&store, 300 + n).unwrap().fence).max().unwrap();
    fs::remove_file(store.beside("-wal")).unwrap();
    check_detected(&store, &held, highest);
}

/// Checks that an identical copy counts as a restore, because the original file may still be in use.
#[test]
fn copy_moved_over_the_file_counts_as_a_restore() {
    let (store, held) = prepared();
    let highest = acquire_more(&store, 3);
    copy(&store.file(), &store.beside(".copy"));
    fs::rename(store.beside(".copy"), store.file()).unwrap();
    check_detected(&store, &held, highest);
}

#[test]
fn deleted_database_is_detected() {
    for with_log in [false, true] {
        let (store, held) = prepared();
        let highest = acquire_more(&store, 3);
        fs::remove_file(store.file()).unwrap();
        if with_log {
            fs::remove_file(store.beside("-wal")).unwrap();
        }
        check_detected(&store, &held, highest);
        // A namespace that is created now must wait, too.
        let other = operations::acquire(&mut *store.connect(), "other", &request(1));
        assert!(waits(&other), "{other:?}");
    }
}

/// Checks that a namespace that the older copy does not contain grants nothing at first.
#[test]
fn namespace_missing_in_the_older_copy_waits() {
    let (store, _) = prepared();
    let older = store.backup();
    operations::acquire(&mut *store.connect(), "later", &request(1)).unwrap();
    store.restore(older);
    let again = operations::acquire(&mut *store.connect(), "later", &request(1));
    assert!(waits(&again), "{again:?}");
}

/// Copies a directory with all files, their owners and their times.
fn copy_directory(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-Rp").args([from, to]).status().unwrap();
    assert!(copied.success());
}

/// Replaces the directory by a cold copy, `-serial` file included, while no process uses it. ext4 may reuse the same
/// inodes.
#[test]
fn restored_directory_is_detected_every_time() {
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
    // Every further restore must be detected, too.
    put_back();
    check_detected(&store, &held, after.fence);
}

/// Checks that a store without a `-serial` file counts as restored even if it has only one transaction.
#[test]
fn serial_file_deleted_after_the_first_transaction_is_detected() {
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
fn deleted_serial_file_is_detected() {
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

/// Checks that restoring the same copy again is detected each time.
#[test]
fn second_restore_from_one_copy_is_detected() {
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

/// Checks that a transaction whose writer was killed has no effect and does not count as a restore.
#[test]
fn writer_killed_in_a_transaction_does_not_count_as_a_restore() {
    let (store, held) = prepared();
    Victim::of(&store.url()).kill();
    let listing = operations::list(&mut *store.connect(), SPACE).unwrap();
    assert_eq!(listing.continuity, Continuity::Same);
    assert_eq!(listing.rows[0].token, Some(held.token));
    acquire(&store, 5).unwrap();
}

/// Checks that a writer that was killed between the commit and recording the serial number does not count as a
/// restore. The commit was not confirmed, but stays.
#[test]
fn writer_killed_before_recording_the_serial_does_not_count_as_a_restore() {
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
