//! Stores that an earlier build made: they go on as they are.

use std::fs;
use std::time::Instant;

use flakeid_conformance::StoreUnderTest;
use flakeid_core::Layout;
use flakeid_protocol::store::Continuity;
use flakeid_protocol::{Acquire, Client, Grant, Handover, Namespace, Owner, Renew, SubGrant};

use crate::operations;
use crate::restorations::{SPACE, now, request, token};
use crate::store_under_test::Sqlite;

/// The same store as version 1 would have it: without birth times, and without bounds beside it.
fn of_version_1() -> (Sqlite, Grant) {
    let store = Sqlite::new();
    let held = operations::acquire(&mut *store.connect(), SPACE, &request(1)).unwrap();
    let file = rusqlite::Connection::open(store.file()).unwrap();
    file.execute_batch(
        "DROP TRIGGER flakeid_floor_stays;
         ALTER TABLE flakeid_namespace DROP COLUMN quiet_until;
         ALTER TABLE flakeid_namespace DROP COLUMN quiet_ms;
         ALTER TABLE flakeid_namespace DROP COLUMN block_bits;
         ALTER TABLE flakeid_node DROP COLUMN fixed;
         ALTER TABLE flakeid_node DROP COLUMN history_until;
         ALTER TABLE flakeid_grant DROP COLUMN previous_until;
         DROP TABLE flakeid_sub_grant;
         CREATE TRIGGER flakeid_floor_stays BEFORE UPDATE ON flakeid_namespace
         WHEN NEW.floor < OLD.floor BEGIN SELECT RAISE(ABORT, 'a floor never falls'); END;
         UPDATE flakeid_meta SET version = 1,
         inode = iif(instr(inode, '/'), substr(inode, 1, instr(inode, '/') - 1), inode)",
    )
    .unwrap();
    drop(file);
    let noted = fs::read_to_string(store.beside("-serial")).unwrap();
    fs::write(store.beside("-serial"), format!("{}\n", &noted[..25])).unwrap();
    (store, held)
}

fn meta(store: &Sqlite) -> (i64, String) {
    let file = rusqlite::Connection::open(store.file()).unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    file.query_row("SELECT version, inode FROM flakeid_meta", [], read).unwrap()
}

#[test]
fn version_1_is_taken_over() {
    let (store, held) = of_version_1();
    let listing = operations::list(&mut *store.connect(), SPACE).unwrap();
    assert_eq!(listing.continuity, Continuity::Same);
    assert_eq!(meta(&store).0, 1, "looking changes nothing");

    let renewal = Renew {
        node: held.node,
        token: held.token,
        next: token().of_grant(held.token),
        confirmed: held.fence,
        start: held.start,
        wanted: held.fence,
        ttl_ms: 60_000,
        now: now(),
        waited_ms: 0,
    };
    operations::renew(&mut *store.connect(), SPACE, &renewal).unwrap();
    let (version, file) = meta(&store);
    // With musl only the system call tells the time of birth, not the standard library.
    let knows_birth =
        cfg!(target_os = "linux") || fs::metadata(store.file()).unwrap().created().is_ok();
    assert_eq!((version, file.contains('/')), (5, knows_birth), "{file}");
    assert_eq!(fs::metadata(store.beside("-serial")).unwrap().len(), 94);
    operations::acquire(&mut *store.connect(), SPACE, &request(2)).unwrap();
}

/// A copy that was made before a store was taken over, put back afterwards.
#[test]
fn copies_of_version_1_are_noticed() {
    let (store, _) = of_version_1();
    let older = store.backup();
    operations::acquire(&mut *store.connect(), SPACE, &request(2)).unwrap();
    operations::acquire(&mut *store.connect(), SPACE, &request(3)).unwrap();
    store.restore(older);
    let listing = operations::list(&mut *store.connect(), SPACE).unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
}

/// Version 4 kept nothing of brokers: of the blocks that they held, and of their clients, only what is
/// handed over from now on is known.
#[test]
fn version_4_is_taken_over() {
    let store = Sqlite::new();
    let wanted = Namespace { block_bits: 4, ..Namespace::new("blocks", Layout::TWITTER) };
    operations::init(&mut *store.connect(), &wanted).unwrap();
    let block = Acquire { block_bits: 4, to: wanted.max_row(), ..request(1) };
    let held = operations::acquire(&mut *store.connect(), "blocks", &block).unwrap();
    let file = rusqlite::Connection::open(store.file()).unwrap();
    file.execute_batch(
        "ALTER TABLE flakeid_node DROP COLUMN history_until;
         ALTER TABLE flakeid_grant DROP COLUMN previous_until;
         DROP TABLE flakeid_sub_grant;
         UPDATE flakeid_meta SET version = 4",
    )
    .unwrap();
    drop(file);
    let client = |tick| {
        let node = held.node << 4;
        let found = operations::whois(&mut *store.connect(), "blocks", node, tick);
        found.unwrap().expect("a broker").client
    };
    assert_eq!(client(held.start), Some(Client::Unrecorded));
    assert_eq!(meta(&store).0, 4, "looking changes nothing");

    let renewal = Renew {
        node: held.node,
        token: held.token,
        next: token().of_grant(held.token),
        confirmed: held.fence,
        start: held.start,
        wanted: held.fence,
        ttl_ms: 60_000,
        now: now(),
        waited_ms: 0,
    };
    let owner = Owner { name: "client".into(), ..Owner::default() };
    let (node, start) = (held.node << 4, held.start);
    let sub_grant = SubGrant { node, start, block_grant: 0, grant: 1, owner, acquired: now() };
    let handover = Handover { sub_grants: vec![sub_grant], until: held.fence };
    let read = Instant::now();
    operations::renew_block(&mut *store.connect(), "blocks", &renewal, read, &handover).unwrap();
    assert_eq!(meta(&store).0, 5);
    assert!(matches!(client(held.start), Some(Client::Known { .. })));
}
