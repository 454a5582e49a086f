//! Tests of the search for the first node without a row.

use super::StoreUnderTest;
use super::fixture::{Client, Fixture, now};
use flakeid_protocol::{Owner, Row, State};

/// Checks that the search returns the first node without a row. The search may begin at any node, wraps around at the
/// end of the range, and ignores rows outside the range.
pub fn search_returns_first_node_without_a_row(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "unused");
    let mut client = fixture.client();
    for (range, first) in [((0, 1023), 0), ((0, 1023), 700), ((5, 5), 5)] {
        assert_eq!(unused(&mut client, range, first), Some(first), "no node was granted yet");
    }
    // Nodes 10, 11, 12 and 14 get rows, as do all nodes from 100 to 899 except 777. The range from 100 to 899 is so
    // long that some stores count its rows instead of reading each row.
    let few = [10, 11, 12, 14];
    write(&mut client, &fixture.namespace.incarnation, &few.into_iter().chain(100..777));
    write(&mut client, &fixture.namespace.incarnation, &(778..900));

    for (range, first, expected) in [
        // The search returns the first node that it checks, because that node has no row.
        ((0, 1023), 13, Some(13)),
        ((0, 1023), 777, Some(777)),
        ((13, 13), 13, Some(13)),
        ((1023, 1023), 1023, Some(1023)),
        // The search skips nodes with rows, and returns a later node without a row.
        ((0, 1023), 10, Some(13)),
        ((0, 1023), 14, Some(15)),
        ((0, 1023), 100, Some(777)),
        ((0, 1023), 778, Some(900)),
        // The search begins at the start of the range.
        ((10, 20), 10, Some(13)),
        ((100, 900), 100, Some(777)),
        // The search wraps around to the start of the range, and ends just before the node at which it began.
        ((10, 14), 14, Some(13)),
        ((13, 14), 14, Some(13)),
        ((99, 899), 778, Some(99)),
        ((100, 899), 778, Some(777)),
        ((99, 776), 776, Some(99)),
        // All nodes in the range have rows. The search ignores nodes outside the range.
        ((10, 10), 10, None),
        ((11, 12), 12, None),
        ((10, 12), 11, None),
        ((100, 776), 100, None),
        ((100, 776), 300, None),
        ((778, 899), 899, None),
        // The search ignores rows outside the range.
        ((15, 99), 99, Some(99)),
        ((900, 1023), 1000, Some(1000)),
    ] {
        assert_eq!(unused(&mut client, range, first), expected, "{range:?} from {first}");
    }

    // The search ignores rows in other namespaces.
    let other = Fixture::new(under_test, "unused-other");
    assert_eq!(unused(&mut other.client(), (0, 1023), 10), Some(10));
}

fn unused(client: &mut Client<'_>, (from, to): (u64, u64), first: u64) -> Option<u64> {
    let found = client.persist(|store, namespace| {
        let mut found = None;
        store.transact(namespace, &mut |ledger| {
            ledger.namespace()?;
            found = ledger.unused(from, to, first)?;
            Ok(())
        })?;
        Ok(found)
    });
    found.expect("a read cannot be refused")
}

/// Writes a row with the state `Free` for each node, in a single transaction. Writes nothing if the nodes have rows, as
/// after a transaction whose response was lost.
fn write(client: &mut Client<'_>, incarnation: &str, nodes: &(impl Iterator<Item = u64> + Clone)) {
    let written = client.persist(|store, namespace| {
        store.transact(namespace, &mut |ledger| {
            ledger.namespace()?;
            let mut nodes = nodes.clone();
            let Some(first) = nodes.next() else { return Ok(()) };
            if ledger.row(first)?.is_some() {
                return Ok(());
            }
            ledger.put_row(None, &row(first, incarnation))?;
            nodes.try_for_each(|node| ledger.put_row(None, &row(node, incarnation)))
        })
    });
    written.expect("a write of rows cannot be refused");
}

fn row(node: u64, incarnation: &str) -> Row {
    Row {
        node,
        fence: 20,
        start: 10,
        token: None,
        grant: 1,
        state: State::Free,
        owner: Owner { name: String::new(), host: "test".into(), pid: 1 },
        acquired: now(),
        renewed: now(),
        expires: 0,
        incarnation: incarnation.into(),
        fixed: false,
        history_until: 0,
    }
}
