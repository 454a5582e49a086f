//! A generator that holds a node while something happens to its store.

use std::time::{Duration, Instant};

use flakeid_lease::{LeaseStatus, LeasedGenerator};

/// Issues IDs until another renewal is confirmed, which must be of the grant that there was `before`.
pub(crate) fn goes_on(generator: &LeasedGenerator, before: &LeaseStatus) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let renewals = generator.lease().renewals;
    let mut last = generator.next_id().unwrap();
    while generator.lease().renewals <= renewals {
        assert!(Instant::now() < deadline, "{:?}", generator.lease());
        let id = generator.next_id().unwrap();
        assert!(id > last);
        last = id;
    }
    let after = generator.lease();
    assert_eq!((after.start, after.grants), (before.start, before.grants), "{after:?}");
}
