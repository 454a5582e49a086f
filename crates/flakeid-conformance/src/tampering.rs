//! Tests of deleted rows, lowered fences, damaged rows, and transactions that fail.

use super::StoreUnderTest;
use super::fixture::{Client, Fixture, fresh_token, renewal};
use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::store::{Fault, Ledger};
use flakeid_protocol::{Namespace, Refusal, Row, State};

/// Checks that a store that can protect its rows refuses to delete a row.
pub fn store_refuses_to_delete_a_row(under_test: &dyn StoreUnderTest) {
    check_refused(under_test, "deletion", |fixture, node| {
        under_test.delete_row(&fixture.namespace.name, node)
    });
}

/// Checks that a store that can protect its rows refuses to lower a fence.
pub fn store_refuses_to_lower_a_fence(under_test: &dyn StoreUnderTest) {
    check_refused(under_test, "lowering", |fixture, node| {
        under_test.lower_fence(&fixture.namespace.name, node)
    });
}

fn check_refused(
    under_test: &dyn StoreUnderTest,
    name: &str,
    attack: impl Fn(&Fixture<'_>, u64) -> Result<(), String>,
) {
    if !under_test.guards_rows() {
        println!("  skipped: this store cannot protect its rows");
        return;
    }
    let fixture = Fixture::new(under_test, name);
    let mut client = fixture.client();
    let held = client.grant(&fixture.request_node(1));
    let free = client.grant(&fixture.request_node(2));
    client.release(&free, free.start + 1_000);
    client.repair(3, Repair::Quarantine);
    let before = client.list().rows;
    for row in &before {
        let refused = attack(&fixture, row.node).expect_err("the store must refuse");
        assert!(!refused.is_empty());
    }
    assert_eq!(client.list().rows, before);
    // The store must not refuse valid changes.
    let held = client.extend(&held, held.fence + 10);
    client.release(&held, held.start + 1);
    client.repair(3, Repair::Lift);
    fixture.check_confirmed();
}

/// Checks that a request for a damaged row fails with an error that names the row's node, and causes neither a panic
/// nor a grant. Other nodes must not be affected. If the row can be read, quarantining the node must repair the row.
pub fn damaged_row_is_reported_with_its_node(under_test: &dyn StoreUnderTest) {
    let end = flakeid_core::Layout::TWITTER.max_tick() + 1;
    let cases = [
        ("fence", "-1".into()),
        ("fence", (end + 1).to_string()),
        ("fence", i64::MAX.to_string()),
        ("fence", "18446744073709551615".into()),
        ("fence", "soon".into()),
        ("fence", String::new()),
        ("token", "garbage".into()),
        ("token", "z".repeat(32)),
        ("token", "0".repeat(33)),
        ("state", "lost".into()),
        ("state", String::new()),
    ];
    for (field, text) in cases {
        if !under_test.can_hold(field, &text) {
            continue;
        }
        let fixture = Fixture::new(under_test, "nonsense");
        let mut client = fixture.client();
        let node = 517;
        let victim = client.grant(&fixture.request_node(node));
        let bystander = client.grant(&fixture.request_node(2));
        under_test.damage(&fixture.namespace.name, node, field, &text);
        println!("  {field} = {text:?}");

        let taken = client.acquire_once(&fixture.request_node(node));
        check_named(taken.map(drop), node, &text);
        let renewal = renewal(&victim, victim.fence + 10);
        let renewed = client.renew_once(&renewal);
        check_named(renewed.map(drop), node, &text);

        let bystander = client.extend(&bystander, bystander.fence + 10);
        client.release(&bystander, bystander.start + 10);
        client.grant(&fixture.request());
        client.grant(&fixture.request_node(3));

        quarantine_damaged(&fixture, &mut client, node);
    }
}

/// Tries to quarantine the node of a damaged row, as an operator would. If the row cannot be read, the error must name
/// the node.
fn quarantine_damaged(fixture: &Fixture<'_>, client: &mut Client<'_>, node: u64) {
    let name = &fixture.namespace.name;
    match operations::repair(&mut *client.store, name, node, Repair::Quarantine) {
        Ok(row) => {
            let row = row.expect("the row is there");
            assert_eq!((row.node, row.state, row.token), (node, State::Quarantined, None));
            match client.acquire_once(&fixture.request_node(node)) {
                Err(Fault::Refused(Refusal::Quarantined { .. }) | Fault::Rejected(_)) => {}
                other => panic!("{other:?}"),
            }
        }
        Err(fault) => check_named(Err(fault), node, "the damaged row"),
    }
    client.grant(&fixture.request_node(4));
}

fn check_named(outcome: Result<(), Fault>, node: u64, text: &str) {
    let Err(Fault::Rejected(error)) = outcome else { panic!("{text:?} was accepted: {outcome:?}") };
    assert!(error.contains(&node.to_string()), "the error does not name the node: {error}");
}

/// Checks that a transaction that fails after its writes has no effect, not even on rows that the transaction had not
/// read.
pub fn failed_transaction_has_no_effect(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "failed-work");
    let mut client = fixture.client();
    client.grant(&fixture.request_node(1));
    let before = client.list();
    let name = fixture.namespace.name.clone();
    let stop = || Fault::Rejected("stop".into());

    let failed = client.store.transact(&name, &mut |ledger: &mut dyn Ledger| {
        let row = ledger.row(1)?.ok_or_else(stop)?;
        let other = Row { fence: row.fence + 1, token: Some(fresh_token()), ..row.clone() };
        ledger.put_row(Some(&row), &other)?;
        ledger.put_row(None, &Row { node: 2, ..other })?;
        let kept = ledger.namespace()?.ok_or_else(stop)?;
        ledger.put_namespace(&Namespace { floor: kept.floor + 1, ..kept })?;
        Err(stop())
    });
    assert_eq!(failed, Err(stop()));
    let after = client.list();
    assert_eq!(after.rows, before.rows);
    assert_eq!(after.namespace, before.namespace);

    // Both the old connection and a new connection must still be usable.
    client.grant(&fixture.request_node(2));
    fixture.client().grant(&fixture.request_node(3));
    fixture.check_confirmed();
}
