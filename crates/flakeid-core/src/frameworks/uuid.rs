//! The conversion of an ID to and from the type `Uuid` of the uuid crate.

use uuid::Uuid;

use crate::{Error, Id};

/// Converts an ID to a UUID of version 8, as [`Id::to_uuid_bytes`] does.
impl From<Id> for Uuid {
    fn from(id: Id) -> Self {
        Self::from_bytes(id.to_uuid_bytes())
    }
}

/// Converts a UUID to the ID that it contains, as [`Id::from_uuid_bytes`] does. Other UUIDs are rejected with
/// [`InvalidId`](crate::ErrorKind::InvalidId).
impl TryFrom<Uuid> for Id {
    type Error = Error;

    fn try_from(uuid: Uuid) -> Result<Self, Error> {
        Self::from_uuid_bytes(uuid.into_bytes())
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn uuids_of_ids_have_version_8_and_convert_back() {
        for bits in [0, 1, 910_499_571_847_892_992, 1 << 63, u64::MAX] {
            let id = Id::from_u64(bits);
            let uuid = Uuid::from(id);
            assert_eq!(uuid.to_string(), id.to_uuid().as_str());
            assert_eq!((uuid.get_version_num(), uuid.get_variant()), (8, uuid::Variant::RFC4122));
            assert_eq!(Id::try_from(uuid).unwrap(), id);
        }
        assert!(Uuid::from(Id::from_u64(u64::MAX >> 1)) < Uuid::from(Id::from_u64(1 << 63)));
    }

    #[test]
    fn uuids_of_other_systems_are_rejected() {
        let reason = "the UUID has version 7, but an ID requires version 8";
        let uuid: Uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse().unwrap();
        assert!(Id::try_from(uuid).unwrap_err().to_string().contains(reason));
        assert!(Id::try_from(Uuid::nil()).is_err());
    }
}
