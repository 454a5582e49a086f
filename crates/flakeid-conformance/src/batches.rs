//! Tests of batches: a broker renews several blocks in one transaction, and each renewal gets its own response.

use std::time::Instant;

use flakeid_core::Layout;

use super::StoreUnderTest;
use super::fixture::{Client, Fixture, fresh_name, renewal};
use flakeid_protocol::operations::{self, BlockRenewal, BlockRenewed, MOST_RENEWED};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{
    self as protocol, Acquire, Bounds, Grant, Handover, Namespace, Owner, Refusal, Renew, Row,
    SubGrant,
};

/// Builds a batch of renewals without grants for the history.
pub(super) fn batch(requests: &[Renew]) -> Vec<BlockRenewal> {
    let read = Instant::now();
    let renewal =
        |request: &Renew| BlockRenewal { request: *request, read, handover: Handover::default() };
    requests.iter().map(renewal).collect()
}

/// Renews blocks in one transaction, and repeats the same batch until its outcome is known.
pub(super) fn renew(client: &mut Client<'_>, renewals: &[BlockRenewal]) -> Vec<BlockRenewed> {
    let responses =
        client.persist(|store, name| operations::renew_blocks(store, name, renewals)).unwrap();
    assert_eq!(responses.len(), renewals.len());
    client.record_renewals(renewals, &responses);
    responses
}

/// Returns the fence that a renewal confirmed.
pub(super) fn fence(response: &BlockRenewed) -> u64 {
    response.as_ref().unwrap().0.fence
}

fn grants(client: &mut Client<'_>, request: &Acquire, count: usize) -> Vec<Grant> {
    (0..count).map(|_| client.grant(request)).collect()
}

fn row(rows: &[Row], node: u64) -> &Row {
    rows.iter().find(|row| row.node == node).unwrap()
}

/// Checks that the largest batch renews all its rows, in any order of the renewals, and that its rows can be renewed
/// again one by one.
pub fn largest_batch_renews_every_row(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "batch");
    let mut client = fixture.client();
    let held = grants(&mut client, &fixture.request(), MOST_RENEWED + 1);
    let (other, held) = held.split_last().unwrap();
    let before = client.list().rows;
    let mut requests: Vec<_> =
        (100..).zip(held).map(|(more, grant)| renewal(grant, grant.fence + more)).collect();
    requests.reverse();
    let responses = renew(&mut client, &batch(&requests));
    for (request, response) in requests.iter().zip(&responses) {
        assert_eq!(fence(response), request.wanted);
    }
    let rows = client.list().rows;
    assert_eq!(row(&rows, other.node), row(&before, other.node), "the row is not in the batch");
    for request in &requests {
        let row = row(&rows, request.node);
        assert_eq!((row.fence, row.token), (request.wanted, Some(request.next)));
        let grant = Grant { token: request.next, fence: request.wanted, ..held[0] };
        let start = row.start;
        client.extend(&Grant { node: row.node, start, ..grant }, request.wanted + 10);
    }
    fixture.check_confirmed();
}

/// Checks that a refused renewal leaves its own row unchanged, and that the other renewals of the batch are applied.
pub fn refused_renewal_does_not_affect_its_batch(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "batch-refusal");
    let mut client = fixture.client();
    let taken = client.grant(&fixture.request_node(4));
    client.grant(&fixture.request_node(4));
    let held = grants(&mut client, &fixture.request(), 3);
    let before = client.list().rows;
    let far = Renew { wanted: held[1].fence + 3_600_000, ..renewal(&held[1], 0) };
    let extended = |grant: &Grant| renewal(grant, grant.fence + 10);
    let requests =
        [extended(&held[0]), extended(&taken), far, extended(&held[2]), extended(&taken)];
    let responses = renew(&mut client, &batch(&requests));
    assert_eq!(
        [fence(&responses[0]), fence(&responses[3])],
        [requests[0].wanted, requests[3].wanted]
    );
    assert_eq!(
        [&responses[1], &responses[4]],
        [&Err(Refusal::FencedOff), &Err(Refusal::FencedOff)]
    );
    assert!(matches!(responses[2], Err(Refusal::TooFarAhead { .. })), "{responses:?}");
    let rows = client.list().rows;
    for node in [taken.node, held[1].node] {
        assert_eq!(row(&rows, node), row(&before, node));
    }
    for request in [requests[0], requests[3]] {
        assert_eq!(row(&rows, request.node).fence, request.wanted);
    }
    fixture.check_confirmed();
}

/// Checks that a repeated batch gets the same responses and changes nothing, even if only some of its renewals were
/// applied before.
pub fn repeated_batch_is_applied_once(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "batch-again");
    let (mut client, mut other) = (fixture.client(), fixture.client());
    let held = grants(&mut client, &fixture.request(), 3);
    let requests: Vec<_> = held.iter().map(|grant| renewal(grant, grant.fence + 500)).collect();
    let first = client.renew(&requests[1]).unwrap();
    let responses = renew(&mut client, &batch(&requests));
    assert_eq!(responses[1], Ok((first, 0)));
    let rows = client.list().rows;
    for client in [&mut client, &mut other] {
        assert_eq!(renew(client, &batch(&requests)), responses);
    }
    assert_eq!(client.list().rows, rows);

    // Two renewals of one row can be in the same batch, and the second one is decided after the first one.
    let next = Renew { token: requests[0].next, ..renewal(&held[0], held[0].fence + 600) };
    let responses = renew(&mut client, &batch(&[next, requests[0], next]));
    assert_eq!(responses[1], Err(Refusal::FencedOff));
    assert_eq!(responses[0], responses[2]);
    assert_eq!(fence(&responses[0]), next.wanted);
    fixture.check_confirmed();
}

/// Checks that a loss of data that the last renewal of a batch proves counts for all renewals of the batch: the other
/// holders continue their leases in the new incarnation.
pub fn batch_detects_a_loss_before_it_is_decided(under_test: &dyn StoreUnderTest) {
    let bounds =
        Bounds { max_window_ms: 1_000, max_ahead_ms: 500, max_skew_ms: 1_000, quiet_ms: 60_000 };
    let new = Namespace::new(&fresh_name("batch-proof"), Layout::TWITTER);
    let fixture = Fixture::with_namespace(under_test, &Namespace { bounds, ..new });
    let mut client = fixture.client();
    let minutes = Acquire { ttl_ms: 600_000, ..fixture.request() };
    let held = grants(&mut client, &minutes, 3);
    let before = client.list().namespace;
    let mut requests: Vec<_> = held.iter().map(|grant| renewal(grant, grant.fence + 10)).collect();
    // The confirmed fence is above the store's fence, as if the store had lost a renewal without detecting the loss.
    requests[2].confirmed = held[2].fence + 300;
    // The store also lost the row of another block.
    requests.push(Renew { node: 900, ..renewal(&held[0], held[0].fence + 10) });
    let responses = renew(&mut client, &batch(&requests));
    assert!(fence(&responses[2]) >= requests[2].confirmed);
    assert!(matches!(responses[3], Err(Refusal::Restored { .. })), "{responses:?}");
    let after = client.list();
    assert_ne!(after.namespace.incarnation, before.incarnation);
    assert!(after.namespace.floor >= requests[2].confirmed, "{after:?}");
    for request in &requests[..3] {
        let row = row(&after.rows, request.node);
        assert_eq!(row.incarnation, after.namespace.incarnation, "decided after the proof");
        assert!(row.fence >= request.wanted);
    }
    let refused = client.acquire(&fixture.request());
    assert!(matches!(refused, Err(Refusal::Restored { .. })), "{refused:?}");
    assert_eq!(renew(&mut client, &batch(&requests))[..3], responses[..3], "the batch is repeated");
    assert_eq!(client.list().namespace, after.namespace);
}

/// Checks that a batch writes the grants of each block to the history. If one grant is outside its block, the batch is
/// rejected and writes nothing.
pub fn batch_records_the_sub_grants_of_each_block(under_test: &dyn StoreUnderTest) {
    let new = Namespace::new(&fresh_name("batch-history"), Layout::TWITTER);
    let fixture = Fixture::with_namespace(under_test, &Namespace { block_bits: 4, ..new });
    let mut client = fixture.client();
    let blocks = Acquire { block_bits: 4, to: 63, ..fixture.request() };
    let held = grants(&mut client, &blocks, 3);
    let owner =
        |grant: &Grant| Owner { name: format!("client {}", grant.node), ..Owner::default() };
    let renewals = |shift: u64| -> Vec<_> {
        let of = |grant: &Grant| {
            let sub_grants = (0..150).map(|n| SubGrant {
                node: (grant.node << 4) + n % 16 + shift,
                start: grant.start + n / 16,
                block_grant: 0,
                grant: n / 16 + 1,
                owner: owner(grant),
                acquired: 1_900_000_000_000,
            });
            let handover = Handover { sub_grants: sub_grants.collect(), until: grant.start + 20 };
            let request = renewal(grant, grant.fence + 10);
            BlockRenewal { request, read: Instant::now(), handover }
        };
        held.iter().map(of).collect()
    };
    let (before, name) = (client.list().rows, &fixture.namespace.name);
    let mut wrong = renewals(0);
    wrong[1].handover = renewals(16)[1].handover.clone();
    let rejected = operations::renew_blocks(&mut *client.store, name, &wrong);
    assert!(matches!(rejected, Err(Fault::Rejected(_))), "{rejected:?}");
    assert_eq!(client.list().rows, before);

    for (grant, response) in held.iter().zip(renew(&mut client, &renewals(0))) {
        assert_eq!(response.unwrap().1, grant.start + 20);
        let (node, tick) = ((grant.node << 4) + 5, grant.start + 9);
        let found = client.persist(|store, name| operations::whois(store, name, node, tick));
        let found = found.unwrap().unwrap();
        let Some(protocol::Client::Known { sub_grant, .. }) = found.client else {
            panic!("{found:?}")
        };
        assert_eq!((sub_grant.grant, sub_grant.owner), (10, owner(grant)));
    }
    fixture.check_confirmed();
}
