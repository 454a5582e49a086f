//! Tests of sub-grants, which are a broker's grants of nodes in its block. From the sub-grants, `whois` determines
//! which client of the broker held a node.

use std::time::Instant;

use flakeid_core::Layout;

use super::StoreUnderTest;
use super::fixture::{Client, Fixture, fresh_name, renewal};
use flakeid_protocol::operations::{self, PastHolder};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{
    self as protocol, Acquire, Grant, Handover, Identity, Namespace, Owner, Refusal, Release,
    Renew, SubGrant,
};

const BLOCK: u64 = 1;
/// The first node of the block.
const NODE: u64 = 16;

/// Creates a namespace that grants blocks of 16 nodes.
fn fixture<'a>(under_test: &'a dyn StoreUnderTest, name: &str) -> Fixture<'a> {
    let new = Namespace::new(&fresh_name(name), Layout::TWITTER);
    Fixture::with_namespace(under_test, &Namespace { block_bits: 4, ..new })
}

/// Leases a block as a broker with the given name.
fn lease(fixture: &Fixture<'_>, client: &mut Client<'_>, name: &str) -> Grant {
    let owner = Owner { name: name.into(), host: "broker-host".into(), pid: 7 };
    let identity = Identity::Node(BLOCK);
    client.grant(&Acquire { block_bits: 4, to: 63, identity, owner, ..fixture.request() })
}

/// Builds a sub-grant of a node to a client whose name contains special characters.
fn sub(node: u64, grant: u64, start: u64) -> SubGrant {
    let name = format!("worker:{node} \"{grant}\" ü;");
    let owner = Owner { name, host: "h".repeat(255), pid: u32::MAX };
    SubGrant { node, start, block_grant: 0, grant, owner, acquired: 1_900_000_000_000 }
}

/// Renews a block and hands over sub-grants to the store. Returns the renewed grant, and the tick up to which the
/// history is complete.
fn hand_over(
    fixture: &Fixture<'_>,
    client: &mut Client<'_>,
    grant: &Grant,
    handover: &Handover,
) -> (Grant, u64) {
    let request = renewal(grant, grant.fence + 10);
    let (renewed, until) = renew(client, &request, handover).expect("a renewal");
    fixture.log().record_renewal(&request, &renewed);
    (Grant { token: request.next, fence: renewed.fence, ..*grant }, until)
}

fn renew(
    client: &mut Client<'_>,
    request: &Renew,
    handover: &Handover,
) -> Result<(protocol::Renewed, u64), Refusal> {
    client.persist(|store, name| {
        operations::renew_block(store, name, request, Instant::now(), handover)
    })
}

fn whois(client: &mut Client<'_>, node: u64, tick: u64) -> PastHolder {
    let found = client.persist(|store, name| operations::whois(store, name, node, tick));
    found.expect("whois is not refused").expect("a broker")
}

/// Returns the number and the end of the client's sub-grant, or the reason why `whois` finds no sub-grant.
fn client_of(holder: &PastHolder) -> Result<(u64, u64), &'static str> {
    match holder.client.as_ref().expect("a namespace of blocks") {
        protocol::Client::Known { sub_grant, fence } => {
            let sent = sub(sub_grant.node, sub_grant.grant, sub_grant.start);
            let block_grant = holder.record.grant;
            assert_eq!(*sub_grant, SubGrant { block_grant, ..sent });
            Ok((sub_grant.grant, *fence))
        }
        protocol::Client::Nobody => Err("nobody"),
        protocol::Client::Unrecorded => Err("unrecorded"),
    }
}

/// Checks that `whois` returns the client for ticks in the complete part of the history, and only the broker for later
/// ticks. The results must stay the same after another broker has leased the block.
pub fn whois_returns_the_client_of_a_broker(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "sub-grants");
    let mut client = fixture.client();
    let first = lease(&fixture, &mut client, "http://one");
    let (start, until) = (first.start, first.start + 100);
    let asked = |client: &mut Client<'_>, node, tick| {
        let found = whois(client, node, tick);
        assert_eq!((found.record.node, found.record.owner.host.as_str()), (BLOCK, "broker-host"));
        (client_of(&found), found.record.owner.name)
    };
    let one = || "http://one".to_owned();
    assert_eq!(
        asked(&mut client, NODE, start),
        (Err("unrecorded"), one()),
        "no sub-grant is recorded yet"
    );

    // The handover consists of two sub-grants of one node with different first ticks, and one sub-grant of another
    // node.
    let sub_grants =
        vec![sub(NODE, 1, start), sub(NODE, 2, start + 40), sub(NODE + 3, 1, start + 7)];
    let handover = Handover { sub_grants, until };
    let (held, recorded) = hand_over(&fixture, &mut client, &first, &handover);
    assert_eq!(recorded, until);
    let known = |grant, fence| (Ok((grant, fence)), one());
    for (node, tick, expected) in [
        (NODE, start, known(1, start + 40)),
        (NODE, start + 39, known(1, start + 40)),
        (NODE, start + 40, known(2, until)),
        (NODE, until - 1, known(2, until)),
        (NODE, until, (Err("unrecorded"), one())),
        (NODE + 3, start + 6, (Err("nobody"), one())),
        (NODE + 3, start + 7, known(1, until)),
        (NODE + 4, start + 7, (Err("nobody"), one())),
        (NODE + 4, until, (Err("unrecorded"), one())),
    ] {
        assert_eq!(asked(&mut client, node, tick), expected, "node {node}, tick {tick}");
    }
    // `whois` does not return the history of block 1 for node 1, which is in block 0.
    let elsewhere = client.persist(|store, name| operations::whois(store, name, BLOCK, start));
    assert_eq!(elsewhere, Ok(None));

    // A renewal without sub-grants also extends the range of ticks for which the history is complete.
    let handover = Handover { sub_grants: Vec::new(), until: until + 50 };
    let (held, recorded) = hand_over(&fixture, &mut client, &held, &handover);
    assert_eq!(recorded, until + 50);
    assert_eq!(asked(&mut client, NODE, until + 49), known(2, until + 50));

    // Another broker takes over the block, as if the first broker had crashed. The second broker then releases the
    // block with a complete history.
    let second = lease(&fixture, &mut client, "http://two");
    let two = || "http://two".to_owned();
    assert!(second.start >= held.fence);
    assert_eq!(asked(&mut client, NODE, until + 49), known(2, until + 50));
    assert_eq!(asked(&mut client, NODE, held.fence - 1), (Err("unrecorded"), one()));
    assert_eq!(asked(&mut client, NODE, second.start), (Err("unrecorded"), two()));
    let used_until = second.start + 30;
    let release = Release { node: BLOCK, token: second.token, used_until };
    let sub_grants = vec![sub(NODE, 1, second.start + 10)];
    let last = Handover { sub_grants, until: u64::MAX };
    client
        .persist(|store, name| operations::release_block(store, name, &release, &last))
        .expect("a release");
    fixture.log().record_release(&release);
    assert_eq!(asked(&mut client, NODE, second.start + 9), (Err("nobody"), two()));
    let known = (Ok((1, used_until)), two());
    assert_eq!(asked(&mut client, NODE, used_until - 1), known);
    let after = client.persist(|store, name| operations::whois(store, name, NODE, used_until));
    assert_eq!(after, Ok(None));
    let third = lease(&fixture, &mut client, "http://three");
    assert_eq!(third.start, used_until.max(third.start));
    assert_eq!(
        asked(&mut client, NODE, used_until - 1),
        known,
        "the sub-grant of the earlier grant is returned"
    );
    fixture.check_confirmed();
}

/// Checks that a broker cannot record sub-grants for nodes outside its block or for ticks outside the block's window.
/// A broker that has lost its block must not be able to record any sub-grants.
pub fn only_the_block_holder_hands_over_sub_grants(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "sub-grants-of-holders");
    let mut client = fixture.client();
    let lost = lease(&fixture, &mut client, "http://lost");
    let held = lease(&fixture, &mut client, "http://held");
    let before = client.list().rows;
    let (start, fence) = (held.start, held.fence);
    let of = |sub_grant| Handover { sub_grants: vec![sub_grant], until: fence };

    let stale = renewal(&lost, fence + 1_000);
    assert_eq!(renew(&mut client, &stale, &of(sub(NODE, 1, start))), Err(Refusal::FencedOff));
    let stale = Release { node: BLOCK, token: lost.token, used_until: lost.start };
    client
        .persist(|store, name| {
            operations::release_block(store, name, &stale, &of(sub(NODE, 1, start)))
        })
        .expect("releases are not refused");
    for outside in
        [sub(15, 1, start), sub(32, 1, start), sub(NODE, 1, start - 1), sub(NODE, 1, fence + 10)]
    {
        let (request, name) = (renewal(&held, fence + 10), &fixture.namespace.name);
        let store: &mut dyn Store = &mut *client.store;
        let refused = operations::renew_block(store, name, &request, Instant::now(), &of(outside));
        assert!(
            matches!(&refused, Err(Fault::Rejected(text)) if text.contains("not within its block 1")),
            "{refused:?}"
        );
    }
    assert_eq!(client.list().rows, before);
    assert_eq!(client_of(&whois(&mut client, NODE, start)), Err("unrecorded"));
    // A renewal can declare the history complete only up to `max_skew` after the store's own time.
    let (held, recorded) = hand_over(&fixture, &mut client, &held, &of(sub(NODE, 1, start)));
    let max_skew_ms = fixture.namespace.bounds.max_skew_ms.cast_signed();
    let latest = client.list().now + max_skew_ms;
    let latest = fixture.namespace.layout.tick_at(latest).expect("a tick");
    assert!(recorded < fence && recorded <= latest, "{recorded}, {latest}");
    // The block's window starts after that of its lost grant, and so ahead of the clock.
    assert_eq!(client_of(&whois(&mut client, NODE, start)), Err("unrecorded"));
    let release = Release { node: BLOCK, token: held.token, used_until: start + 20 };
    let complete = Handover { until: u64::MAX, ..Handover::default() };
    client
        .persist(|store, name| operations::release_block(store, name, &release, &complete))
        .expect("a release");
    fixture.log().record_release(&release);
    assert_eq!(client_of(&whois(&mut client, NODE, start)), Ok((1, start + 20)));
    fixture.check_confirmed();
}

/// Checks that repeated renewals record no further sub-grants, and that sub-grants stay unchanged when they are handed
/// over again. One handover must be able to contain 600 sub-grants.
pub fn repeated_handovers_are_recorded_once(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "sub-grants-again");
    let mut client = fixture.client();
    let held = lease(&fixture, &mut client, "http://one");
    let start = held.start;
    let many: Vec<_> =
        (0..600).map(|n| sub(NODE + n % 16, n / 16 + 1, start + n / 16 * 3)).collect();
    let until = start + 200;
    let handover = Handover { sub_grants: many.clone(), until };
    let request = renewal(&held, held.fence + 10);
    let answer = renew(&mut client, &request, &handover).expect("a renewal");
    let unheard = Handover { sub_grants: vec![sub(NODE, 99, start + 300)], until: start + 400 };
    assert_eq!(renew(&mut client, &request, &unheard), Ok(answer));
    assert_eq!(answer.1, until);
    let held = Grant { token: request.next, fence: answer.0.fence, ..held };
    fixture.log().record_renewal(&request, &answer.0);
    assert_eq!(client_of(&whois(&mut client, NODE, start + 300)), Err("unrecorded"));

    let again = Handover { sub_grants: many, until: until + 1 };
    hand_over(&fixture, &mut client, &held, &again);
    for n in [0, 1, 15, 16, 255, 256, 500, 583] {
        let (node, grant, first) = (NODE + n % 16, n / 16 + 1, start + n / 16 * 3);
        assert_eq!(client_of(&whois(&mut client, node, first + 2)), Ok((grant, first + 3)), "{n}");
    }
    fixture.check_confirmed();
}

/// Checks that `whois` reports a tick as unrecorded if a gap in the numbers of the sub-grants shows that a sub-grant is
/// missing.
pub fn whois_reports_missing_sub_grants_as_unrecorded(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "sub-grants-missing");
    let mut client = fixture.client();
    let held = lease(&fixture, &mut client, "http://one");
    let start = held.start;
    let sub_grants =
        vec![sub(NODE, 1, start), sub(NODE, 3, start + 20), sub(NODE + 1, 2, start + 20)];
    let handover = Handover { sub_grants, until: start + 30 };
    hand_over(&fixture, &mut client, &held, &handover);
    for (node, tick, expected) in [
        (NODE, start, Err("unrecorded")),
        (NODE, start + 20, Ok((3, start + 30))),
        (NODE + 1, start + 19, Err("unrecorded")),
    ] {
        assert_eq!(client_of(&whois(&mut client, node, tick)), expected, "node {node}");
    }
    fixture.check_confirmed();
}

/// Checks that a namespace without a history does not store sub-grants.
pub fn sub_grants_are_discarded_without_a_history(under_test: &dyn StoreUnderTest) {
    let new = Namespace::new(&fresh_name("no-sub-grants"), Layout::TWITTER);
    let wanted = Namespace { block_bits: 4, keeps_history: false, ..new };
    let fixture = Fixture::with_namespace(under_test, &wanted);
    let mut client = fixture.client();
    let held = lease(&fixture, &mut client, "http://one");
    let sub_grants = vec![sub(NODE, 1, held.start)];
    let handover = Handover { sub_grants, until: held.fence };
    let (held, until) = hand_over(&fixture, &mut client, &held, &handover);
    assert_eq!(until, 0);
    let found = client.persist(|store, name| operations::whois(store, name, NODE, held.start));
    assert_eq!(found, Ok(None));
    fixture.check_confirmed();
}
