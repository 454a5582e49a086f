//! Tests of a database file with two hard links. Each link would have its own log and lock, so the two links would act
//! as separate stores that grant the same nodes.

use std::fs;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Release, Renew};

use crate::lessee::{self, check_apart, names};
use crate::operations;
use crate::restorations::{SPACE, now, request, token};
use crate::store_under_test::{Sqlite, connect};

fn rejection<T: std::fmt::Debug>(answer: Result<T, Fault>) -> String {
    match answer {
        Err(Fault::Rejected(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn database_file_with_two_hard_links_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [one, other] = ["one.db", "other.db"].map(|name| directory.path().join(name));
    fs::write(&one, "").unwrap();
    fs::hard_link(&one, &other).unwrap();
    let answers = [&one, &other].map(|file| lessee::run(lessee::of(file)));
    check_apart(&answers);
    for answer in &answers {
        assert!(answer.refusal().contains("has 2 names"), "{answer:?}");
    }
    assert_eq!(names(directory.path()), ["one.db", "other.db"], "the store must create no file");
}

/// Checks that an open store refuses all requests while one of its files has a second hard link.
#[test]
fn store_refuses_requests_while_its_files_have_extra_hard_links() {
    for suffix in ["", "-serial"] {
        let store = Sqlite::new();
        let mut connection = store.connect();
        let held = operations::acquire(&mut *connection, SPACE, &request(1)).unwrap();
        let released = operations::acquire(&mut *connection, SPACE, &request(2)).unwrap();
        let renewal = || Renew {
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
        let release = Release { node: 2, token: released.token, used_until: 0 };

        let link = store.beside(".link");
        fs::hard_link(store.beside(suffix), &link).unwrap();
        for text in [
            rejection(operations::acquire(&mut *connection, SPACE, &request(3))),
            rejection(operations::renew(&mut *connection, SPACE, &renewal())),
            rejection(operations::release(&mut *connection, SPACE, &release)),
            rejection(operations::list(&mut *connection, SPACE)),
            rejection(connect(&store.url()).map(drop)),
        ] {
            let said = format!("flakeid.db{suffix} has 2 names");
            assert!(text.contains(&said) && text.contains("remove"), "{text}");
        }

        fs::remove_file(&link).unwrap();
        operations::renew(&mut *connection, SPACE, &renewal()).unwrap();
        operations::release(&mut *connection, SPACE, &release).unwrap();
    }
}
