//! Tests of namespaces: different layouts, missing namespaces, invalid names, and the independence of namespaces.

use flakeid_core::Layout;

use super::StoreUnderTest;
use super::fixture::{Fixture, fresh_name, now, renewal};
use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Acquire, Bounds, Identity, Namespace, Refusal};

/// Checks that a namespace refuses a different layout, but accepts a layout that differs only in the way it splits the
/// node field.
pub fn namespace_refuses_another_layout(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "layouts");
    let mut client = fixture.client();
    let twitter = Layout::TWITTER;
    for layout in [Layout::BAIDU, twitter.with_epoch(twitter.epoch() + 1).unwrap()] {
        let refused = client.acquire(&Acquire { layout, ..fixture.request() });
        assert_eq!(refused, Err(Refusal::OtherLayout { namespace: twitter, client: layout }));
        let wanted = Namespace::new(&fixture.namespace.name, layout);
        let refused = operations::init(&mut *client.store, &wanted);
        let expected = Refusal::OtherLayout { namespace: twitter, client: layout };
        assert_eq!(refused, Err(Fault::Refused(expected)));
    }
    assert_eq!(client.list().namespace.layout, twitter);
    assert!(client.list().rows.is_empty());

    for layout in ["t41.n10.s12", "t41.d2.w8.s12", "t41.d5.w5.s12"] {
        let layout: Layout = format!("{layout}@{}/1ms", twitter.epoch()).parse().unwrap();
        client.grant(&Acquire { layout, ..fixture.request() });
    }
    assert_eq!(client.list().namespace.layout, twitter);
    fixture.check_confirmed();
}

/// Checks that a namespace that grants blocks refuses requests for single nodes and for blocks of a different size.
pub fn namespace_refuses_other_block_bits(under_test: &dyn StoreUnderTest) {
    let wanted =
        Namespace { block_bits: 4, ..Namespace::new(&fresh_name("blocks"), Layout::TWITTER) };
    let fixture = Fixture::with_namespace(under_test, &wanted);
    let mut client = fixture.client();
    assert_eq!(client.list().namespace.block_bits, 4);
    for block_bits in [0, 3, 5] {
        let refusal = Refusal::BlockBits { namespace: 4, client: block_bits };
        let refused = client.acquire(&Acquire { block_bits, ..fixture.request() });
        assert_eq!(refused, Err(refusal.clone()));
        let other = Namespace { block_bits, ..wanted.clone() };
        let refused = operations::init(&mut *client.store, &other);
        assert_eq!(refused, Err(Fault::Refused(refusal)));
    }
    let block = Acquire { block_bits: 4, to: 63, ..fixture.request() };
    let beyond = client.acquire(&Acquire { to: 64, ..block.clone() });
    assert_eq!(beyond, Err(Refusal::Nodes { from: 0, to: 64, max_node: 63 }));
    let last = client.grant(&Acquire { identity: Identity::Node(63), ..block.clone() });
    assert_eq!(last.node, 63);
    let beyond = operations::repair(&mut *client.store, &wanted.name, 64, Repair::Quarantine);
    let refusal = Refusal::Nodes { from: 64, to: 64, max_node: 63 };
    assert_eq!(beyond.map(drop), Err(Fault::Refused(refusal)));

    let too_many = Namespace { block_bits: 6, ..Namespace::new("too-many", Layout::TWITTER) };
    let refused = operations::init(&mut *client.store, &too_many);
    assert!(
        matches!(&refused, Err(Fault::Rejected(text)) if text.contains("block_bits 6")),
        "{refused:?}"
    );
    fixture.check_confirmed();
}

/// Checks that requests for a missing namespace are refused. If the store creates missing namespaces by itself,
/// however, an acquire request must create the namespace with the default bounds.
pub fn missing_namespace_is_refused_or_created(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "present");
    let mut client = fixture.client();
    let missing = fresh_name("missing");
    let store = &mut *client.store;
    let gone = || Err(Fault::Refused(Refusal::MissingNamespace));

    assert_eq!(operations::list(store, &missing).map(drop), gone());
    assert_eq!(operations::repair(store, &missing, 1, Repair::Release).map(drop), gone());
    assert_eq!(operations::fast_forward(store, &missing, 1).map(drop), gone());
    assert_eq!(operations::whois(store, &missing, 1, 1).map(drop), gone());
    let nobodys = fixture.client().grant(&fixture.request());
    let renewal = renewal(&nobodys, nobodys.fence);
    assert_eq!(operations::renew(store, &missing, &renewal).map(drop), gone());
    assert!(!store.namespaces().unwrap().contains(&missing), "a refused request created it");

    let acquired = operations::acquire(store, &missing, &fixture.request()).map(drop);
    if store.creates_namespaces() {
        assert_eq!(acquired, Ok(()));
        let made = operations::list(store, &missing).unwrap().namespace;
        assert_eq!(made.layout, Layout::TWITTER);
        assert_eq!(made.bounds, Bounds::of(&Layout::TWITTER));
        assert!(made.keeps_history);
    } else {
        assert_eq!(acquired, gone());
    }
    assert_eq!(store.namespaces().unwrap().contains(&missing), store.creates_namespaces());
    fixture.check_confirmed();
}

/// Checks that invalid namespace names are refused, and that the longest valid name is accepted.
pub fn invalid_namespace_names_are_refused(under_test: &dyn StoreUnderTest) {
    let mut store = under_test.connect();
    let long = "n".repeat(65);
    for name in ["", " ", "a b", "a/b", "a:b", "a'b", "{a}", "ä", "a\0b", "%", &long] {
        let wanted = Namespace::new(name, Layout::TWITTER);
        let refused = operations::init(&mut *store, &wanted);
        let Err(Fault::Rejected(text)) = refused else { panic!("{name:?}: {refused:?}") };
        assert!(text.contains("namespace"), "{text}");
        let refused = operations::list(&mut *store, name).map(drop);
        assert!(matches!(refused, Err(Fault::Rejected(_))), "{name:?}: {refused:?}");
    }
    let longest = format!("{:.<64}", fresh_name("Az09._-"));
    let wanted = Namespace::new(&longest, Layout::TWITTER);
    assert_eq!(operations::init(&mut *store, &wanted).unwrap().name, longest);
    assert!(store.namespaces().unwrap().contains(&longest));
}

/// Checks that namespaces do not affect each other, even if their names differ only in case, or if one name begins with
/// the other.
pub fn namespaces_do_not_affect_each_other(under_test: &dyn StoreUnderTest) {
    for twin in [|name: &str| name.replace("twins", "TWINS"), |name: &str| format!("{name}-2")] {
        let name = fresh_name("twins");
        check_apart(under_test, &name, &twin(&name));
    }
}

fn check_apart(under_test: &dyn StoreUnderTest, name: &str, other: &str) {
    let named =
        |name: &str| Fixture::with_namespace(under_test, &Namespace::new(name, Layout::TWITTER));
    let (here, there) = (named(name), named(other));
    let (mut near_client, mut far_client) = (here.client(), there.client());
    let held_near = near_client.grant(&here.request_node(5));
    let held_far = far_client.grant(&there.request_node(5));
    let far_rows = far_client.list().rows;

    near_client.repair(6, Repair::Quarantine);
    near_client.repair(5, Repair::Release);
    let tick = held_near.fence + 5_000;
    near_client.persist(|store, name| operations::fast_forward(store, name, tick)).unwrap();
    assert_eq!(near_client.list().namespace.floor, tick);

    assert_eq!(far_client.list().rows, far_rows);
    assert_eq!(far_client.list().namespace.floor, 0);
    far_client.extend(&held_far, held_far.fence + 10);
    far_client.grant(&there.request_node(6));
    // A token from one namespace is not valid in another namespace.
    let foreign = renewal(&held_near, held_near.fence + 10);
    assert_eq!(far_client.renew(&foreign), Err(Refusal::FencedOff));
    here.check_confirmed();
    there.check_confirmed();
}

/// Checks that `init` returns an existing namespace unchanged.
pub fn init_leaves_an_existing_namespace_unchanged(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "init-again");
    let mut client = fixture.client();
    client.grant(&fixture.request());
    let before = client.list();
    let bounds = Bounds { max_window_ms: 100, max_ahead_ms: 0, max_skew_ms: 1, quiet_ms: 103 };
    let wanted = Namespace { bounds, floor: 77, keeps_history: false, ..fixture.namespace.clone() };
    let kept = operations::init(&mut *client.store, &wanted).unwrap();
    let after = client.list();
    assert_eq!(kept, before.namespace);
    assert_eq!(after.namespace, before.namespace);
    assert_eq!(after.rows, before.rows);
    fixture.check_confirmed();
}

/// Creates a lost namespace again with smaller bounds. Checks that the new namespace does not grant ticks that a holder
/// under the old bounds may still use.
pub fn lost_namespace_waits_for_its_old_bounds(under_test: &dyn StoreUnderTest) {
    const HOUR_MS: u64 = 3_600_000;
    // The copy contains the store's tables, but not the namespace.
    Fixture::new(under_test, "kept");
    let copy = under_test.backup();
    let new = Bounds { max_window_ms: 300, max_ahead_ms: 200, max_skew_ms: 1500, quiet_ms: 3_400 };
    let lost = Bounds { max_window_ms: HOUR_MS, ..new };
    let wanted = Namespace { bounds: lost, ..Namespace::new(&fresh_name("lost"), Layout::TWITTER) };
    let fixture = Fixture::with_namespace(under_test, &wanted);
    let mut client = fixture.client();
    let held = client.grant(&fixture.request_node(1));
    let held = client.extend(&held, fixture.tick() + HOUR_MS);
    under_test.restore(copy);
    fixture.log().record_restoration();

    let mut client = fixture.client();
    let gone = client.persist(operations::list).map(drop);
    assert_eq!(gone, Err(Refusal::MissingNamespace));
    let again = Namespace { bounds: new, ..wanted };
    let made = client.persist(|store, _| operations::create(store, &again, Some(&lost))).unwrap();
    assert_eq!(made.0.bounds, new);
    // The wait must be longer than the new bounds alone would require.
    client.wait_until(now() + 5_000);
    let acquired = client.acquire(&Acquire { window_ms: 300, ..fixture.request_node(1) });
    let Err(Refusal::FenceInFuture { retry_after_ms } | Refusal::Restored { retry_after_ms }) =
        acquired
    else {
        panic!("{acquired:?}, although {held:?} is still in use");
    };
    assert!(retry_after_ms > HOUR_MS - 60_000, "{retry_after_ms}");
    assert!(client.list().namespace.floor >= held.fence);
    fixture.log().check_disjoint();
}
