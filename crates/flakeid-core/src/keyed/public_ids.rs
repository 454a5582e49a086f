//! Converts IDs to the public IDs of one domain (sealing), and converts public IDs back to IDs (opening).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::digits::{self, DIGITS};
use super::speck::Cipher;
use crate::error::excerpt;
use crate::quoted::Quoted;
use crate::{Error, ErrorKind, Id, Layout};

/// The longest time, in milliseconds, by which an opened ID may be ahead of the clock. Generators may run ahead of the
/// clock, and the clocks of two computers can differ.
const MOST_AHEAD_MS: i64 = 60_000;
const MOST_OF_PREFIX: usize = 16;

/// Seals and opens the public IDs of one domain. [`Keyring::domain`](crate::Keyring::domain) creates this object.
///
/// A public ID is an ID encrypted with Speck64/128 under a key of the domain. Its string consists of a prefix and an
/// underscore (if a prefix is set), the key letter, and 11 base58 digits. Without the key, a public ID does not
/// reveal when and by which node the ID was generated, how many IDs exist, or which of two IDs is older.
///
/// **A public ID hides an ID, but it does not authorize.** The public form of a given ID cannot be computed without the
/// key. However, a random string may open as a valid ID, unless the layout and the time exclude the ID. With Twitter's
/// layout and IDs from one year, one attempt in 140 succeeds. Look the ID up, and check the caller's permissions, as
/// with any other ID.
///
/// ```
/// use flakeid_core::{Id, Key, Keyring, Layout};
///
/// let keyring = Keyring::new('a', Key::from_bytes([7; 16]))?;
/// let orders = keyring.domain("order", Layout::TWITTER)?.with_prefix("ord")?;
/// let text = orders.seal(Id::from_u64(910_499_571_847_892_992))?;
/// assert_eq!(orders.open(&text)?.to_u64(), 910_499_571_847_892_992);
/// let users = keyring.domain("user", Layout::TWITTER)?.with_prefix("ord")?;
/// assert!(users.open(&text).is_err());
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PublicIds {
    /// The letter and the cipher of the current key.
    current: (char, Cipher),
    older: Vec<(char, Cipher)>,
    layout: Layout,
    /// The smallest ID that a public ID may decrypt to.
    first: Id,
    prefix: String,
}

impl PublicIds {
    pub(super) fn new(current: (char, Cipher), older: Vec<(char, Cipher)>, layout: Layout) -> Self {
        let first = layout.lower_bound(layout.epoch());
        Self { current, older, layout, first, prefix: String::new() }
    }

    /// Sets the prefix of the public IDs. The prefix shows readers the kind of object that an ID identifies. An
    /// underscore separates the prefix from the rest of the public ID.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) unless the prefix consists of 1 to 16 lowercase letters and
    /// digits and begins with a letter.
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self, Error> {
        self.set_prefix(prefix)?;
        Ok(self)
    }

    pub(super) fn set_prefix(&mut self, prefix: &str) -> Result<(), Error> {
        let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins = prefix.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        if !begins || prefix.len() > MOST_OF_PREFIX || !prefix.bytes().all(known) {
            let reason = alloc::format!(
                "{} must have 1 to {MOST_OF_PREFIX} lowercase letters and digits, and begin with \
                 a letter",
                Quoted(prefix)
            );
            return Err(Error::invalid_option("prefix", &reason));
        }
        self.prefix = alloc::format!("{prefix}_");
        Ok(())
    }

    /// Sets the earliest time of the IDs that can be opened, in Unix milliseconds. The default is the layout's epoch. A
    /// later time reduces the chance that a random string can be opened.
    #[must_use]
    pub const fn since(mut self, unix_ms: i64) -> Self {
        self.first = self.layout.lower_bound(unix_ms);
        self
    }

    /// The layout of the IDs.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Seals an ID, and returns the public ID as a string.
    ///
    /// # Errors
    /// [`InvalidId`](crate::ErrorKind::InvalidId) if the ID has bits that the layout never sets.
    pub fn seal(&self, id: Id) -> Result<String, Error> {
        let digits = digits::encode(self.seal_bits(id)?);
        let mut text = String::with_capacity(self.prefix.len() + 1 + DIGITS);
        text.push_str(&self.prefix);
        text.push(self.current.0);
        text.push_str(&digits);
        Ok(text)
    }

    /// Seals an ID, and returns the public ID as a 64-bit number, without the prefix and the key letter.
    ///
    /// # Errors
    /// The same errors as [`seal`](Self::seal).
    pub fn seal_bits(&self, id: Id) -> Result<u64, Error> {
        self.layout.check_bits(id)?;
        Ok(self.current.1.encrypt(id.to_u64()))
    }

    /// Opens a public ID, and compares the ID's time with the system clock.
    ///
    /// # Errors
    /// [`InvalidId`](crate::ErrorKind::InvalidId) if the string cannot be opened, for example because the string was
    /// sealed with a different key, domain or prefix. Most random strings, all IDs from before [`since`](Self::since),
    /// and all IDs more than a minute ahead of the clock cause the same error. The error does not reveal the reason.
    #[cfg(feature = "std")]
    pub fn open(&self, text: &str) -> Result<Id, Error> {
        // The coarse clock is used, because it is the cheapest clock to read. Its lag of a few milliseconds is
        // negligible compared with the allowed minute.
        self.open_at(text, crate::Clock::unix_ms(&crate::CoarseClock))
    }

    /// Opens a public ID in the same way as `open`, but compares the ID's time with the given instant, in Unix
    /// milliseconds.
    ///
    /// # Errors
    /// The same errors as `open`.
    pub fn open_at(&self, text: &str, unix_ms: i64) -> Result<Id, Error> {
        self.opened(text, unix_ms).ok_or_else(|| {
            let text = excerpt(text);
            let message = alloc::format!("{} is not a public ID of this domain", Quoted(&text));
            Error::new(ErrorKind::InvalidId, &message, None)
        })
    }

    fn opened(&self, text: &str, unix_ms: i64) -> Option<Id> {
        let (letter, digits) = text.strip_prefix(self.prefix.as_str())?.as_bytes().split_first()?;
        let bits = digits::decode(digits.try_into().ok()?)?;
        let mut ciphers = core::iter::once(&self.current).chain(&self.older);
        let (_, cipher) = ciphers.find(|(of, _)| *of == char::from(*letter))?;
        let id = Id::from_u64(cipher.decrypt(bits));
        let latest = unix_ms.saturating_add(MOST_AHEAD_MS);
        let is_one = self.layout.stray_bits(id) == 0
            && id >= self.first
            && self.layout.time_of(id) <= latest;
        is_one.then_some(id)
    }
}

/// Prints the settings without the keys.
impl fmt::Debug for PublicIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicIds")
            .field("layout", &self.layout)
            .field("first", &self.first)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}
