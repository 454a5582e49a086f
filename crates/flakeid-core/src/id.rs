//! 64-bit IDs and their parts.

use core::fmt;

/// A 64-bit ID. IDs are ordered as numbers, and therefore by time.
///
/// `Display` and `FromStr` use the decimal form; [`TextForm`](crate::TextForm) provides the other forms. With the
/// `serde` feature an ID is a decimal string in human-readable formats (because JSON numbers lose digits in
/// JavaScript) and a `u64` in binary formats.
///
/// ```
/// use flakeid_core::{Id, Layout};
///
/// let id = Id::from_u64(910_499_571_847_892_992);
/// assert_eq!(id.to_string(), "910499571847892992");
/// assert_eq!("910499571847892992".parse::<Id>()?, id);
/// assert_eq!(id.to_base58().as_str(), "37amtpPtjf5");
/// assert_eq!(Layout::TWITTER.unpack(id)?.node, 569);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Id(u64);

impl Id {
    /// Creates an ID from any 64-bit number. [`Layout::unpack`](crate::Layout::unpack) checks whether the number is a
    /// valid ID of a layout.
    #[inline]
    #[must_use]
    pub const fn from_u64(bits: u64) -> Self {
        Self(bits)
    }

    /// The ID as an unsigned integer.
    #[inline]
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// Returns the same 64 bits as a signed integer, for signed database columns. If the top bit of the ID is set, the
    /// result is negative and sorts before the positive results for earlier IDs.
    /// [`Layout::fits_i64_until`](crate::Layout::fits_i64_until) returns the time until which the results for a layout
    /// are positive.
    #[inline]
    #[must_use]
    pub const fn to_i64(self) -> i64 {
        self.0.cast_signed()
    }

    /// Creates an ID from a signed integer: the inverse of [`to_i64`](Self::to_i64).
    #[inline]
    #[must_use]
    pub const fn from_i64(bits: i64) -> Self {
        Self(bits.cast_unsigned())
    }

    /// Returns the ID as eight bytes, most significant byte first. The byte arrays sort in the same order as the IDs.
    /// The JavaScript library flake-idgen returns the same bytes.
    #[inline]
    #[must_use]
    pub const fn to_be_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// Creates an ID from eight bytes: the inverse of [`to_be_bytes`](Self::to_be_bytes).
    #[inline]
    #[must_use]
    pub const fn from_be_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_be_bytes(bytes))
    }

    /// Converts a slice of integers to a slice of IDs, so that bindings can fill arrays of the host language without
    /// copying the IDs.
    ///
    /// ```
    /// use flakeid_core::{Generator, Id, Layout};
    ///
    /// let mut numbers = [0u64; 1000];
    /// let generator = Generator::new(Layout::TWITTER, 8)?;
    /// assert_eq!(generator.fill(Id::from_u64_slice_mut(&mut numbers))?, 1000);
    /// # Ok::<(), flakeid_core::Error>(())
    /// ```
    #[must_use]
    pub fn from_u64_slice_mut(numbers: &mut [u64]) -> &mut [Self] {
        host::as_ids(numbers)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.0)
    }
}

impl From<u64> for Id {
    fn from(bits: u64) -> Self {
        Self(bits)
    }
}

impl From<Id> for u64 {
    fn from(id: Id) -> Self {
        id.0
    }
}

/// The only unsafe code in this file: the conversion of a slice of integers to a slice of IDs.
mod host {
    #![allow(unsafe_code)]

    use super::Id;

    pub(super) fn as_ids(numbers: &mut [u64]) -> &mut [Id] {
        // SAFETY: `Id` is a transparent wrapper around `u64`, and every `u64` is a valid `Id`. The result has the
        // length and the lifetime of `numbers`.
        unsafe { &mut *(core::ptr::from_mut(numbers) as *mut [Id]) }
    }
}

#[cfg(feature = "serde")]
mod serde_impls {
    use super::Id;
    use core::fmt;
    use serde::de::{Deserialize, Deserializer, Error, Visitor};
    use serde::ser::{Serialize, Serializer};

    impl Serialize for Id {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if serializer.is_human_readable() {
                serializer.collect_str(self)
            } else {
                serializer.serialize_u64(self.0)
            }
        }
    }

    struct Decimal;

    impl Visitor<'_> for Decimal {
        type Value = Id;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an ID as a string of decimal digits")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Id, E> {
            text.parse().map_err(E::custom)
        }
    }

    impl<'de> Deserialize<'de> for Id {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            if deserializer.is_human_readable() {
                deserializer.deserialize_str(Decimal)
            } else {
                u64::deserialize(deserializer).map(Id)
            }
        }
    }
}

/// The fields of an ID.
///
/// The fields `unix_ms` and `tick` contain the same time. The fields `datacenter` and `worker` together contain the
/// same number as `node`. [`Layout::pack`](crate::Layout::pack) checks that these fields match.
///
/// ```
/// use flakeid_core::{Id, Layout};
///
/// let parts = Layout::TWITTER.unpack(Id::from_u64(910_499_571_847_892_992))?;
/// assert_eq!((parts.unix_ms, parts.node, parts.sequence), (1_505_914_988_849, 569, 0));
/// assert_eq!((parts.datacenter, parts.worker), (Some(17), Some(25)));
///
/// let mut next = parts;
/// next.sequence += 1;
/// assert_eq!(Layout::TWITTER.pack(&next)?.to_u64(), 910_499_571_847_892_993);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Parts {
    /// The tick of the ID: the number of whole time units since the layout's epoch.
    pub tick: u64,
    /// The beginning of the tick, in Unix milliseconds.
    pub unix_ms: i64,
    /// The complete node number; 0 if the layout has no node field.
    pub node: u64,
    /// The datacenter: the high bits of a split node. `None` if the layout does not split the node.
    pub datacenter: Option<u64>,
    /// The worker: the low bits of a split node. `None` if the layout does not split the node.
    pub worker: Option<u64>,
    /// The clock sequence; 0 if the layout has no clock-sequence field.
    pub clock_sequence: u64,
    /// The sequence number: the counter within the tick. 0 if the layout has no sequence field.
    pub sequence: u64,
}

/// A subset of the parts of an ID; [`Layout::complete`](crate::Layout::complete) derives the other parts.
///
/// ```
/// use flakeid_core::{GivenParts, Layout};
///
/// let mut given = GivenParts::default();
/// (given.unix_ms, given.datacenter, given.worker) = (Some(1_505_914_988_849), Some(17), Some(25));
/// let parts = Layout::TWITTER.complete(&given)?;
/// assert_eq!((parts.node, parts.sequence), (569, 0));
/// assert_eq!(Layout::TWITTER.pack(&parts)?.to_u64(), 910_499_571_847_892_992);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GivenParts {
    /// The tick of the ID: the number of whole time units since the layout's epoch. `None` means the tick that contains
    /// `unix_ms`.
    pub tick: Option<u64>,
    /// An instant within the tick, in Unix milliseconds. `None` means the beginning of `tick`.
    pub unix_ms: Option<i64>,
    /// The complete node number. `None` means that `datacenter` and `worker` determine the node.
    pub node: Option<u64>,
    /// The datacenter: the high bits of a split node.
    pub datacenter: Option<u64>,
    /// The worker: the low bits of a split node.
    pub worker: Option<u64>,
    /// The clock sequence; `None` means 0.
    pub clock_sequence: Option<u64>,
    /// The sequence number: the counter within the tick. `None` means 0.
    pub sequence: Option<u64>,
}

#[cfg(all(test, feature = "serde", not(loom)))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use alloc::boxed::Box;
    use alloc::string::ToString;

    use serde_test::{Configure, Token, assert_de_tokens_error, assert_tokens};

    use super::Id;

    #[test]
    fn id_serializes_as_a_string_only_in_text_formats() {
        for bits in [0, 1, 910_499_571_847_892_992, u64::MAX] {
            let id = Id::from_u64(bits);
            let text: &'static str = Box::leak(bits.to_string().into_boxed_str());
            assert_tokens(&id.readable(), &[Token::Str(text)]);
            assert_tokens(&id.compact(), &[Token::U64(bits)]);
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(json, format!("\"{bits}\""));
            assert_eq!(serde_json::from_str::<Id>(&json).unwrap(), id);
        }
    }

    #[test]
    fn deserializing_an_id_from_a_json_number_fails() {
        // JSON numbers are rejected, because JavaScript may have silently rounded a large number.
        assert!(serde_json::from_str::<Id>("910499571847892992").is_err());
        assert_de_tokens_error::<serde_test::Readable<Id>>(
            &[Token::Str("18446744073709551616")],
            "\"18446744073709551616\" is not an ID in decimal: the number is larger than the largest \
             64-bit ID; an ID must be from 0 to 18446744073709551615",
        );
    }
}
