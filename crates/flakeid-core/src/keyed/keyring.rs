//! Keyrings: sets of secret keys, in which a letter identifies each key.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::key::Key;
use super::public_ids::PublicIds;
use crate::{Error, Layout};

/// The keys of an application, each with a letter from `a` to `z` that its public IDs contain. The key that was added
/// last is the current key: new public IDs are sealed with the current key. Public IDs that were sealed with the other
/// keys can still be opened.
///
/// The string form has a line for each key with its letter and 32 hexadecimal digits. The line for the current key is
/// the last. Empty lines and lines that begin with `#` are ignored.
///
/// ```
/// use flakeid_core::{Id, Keyring, Layout};
///
/// let keyring = Keyring::new('a', "000102030405060708090a0b0c0d0e0f".parse()?)?;
/// // The same keyring in the format of `flakeid keygen`.
/// assert_eq!(keyring, "a 000102030405060708090a0b0c0d0e0f".parse()?);
/// let users = keyring.domain("user", Layout::TWITTER)?.with_prefix("usr")?;
/// let text = users.seal(Id::from_u64(910_499_571_847_892_992))?;
/// assert!(text.starts_with("usr_a"));
/// assert_eq!(users.open(&text)?.to_u64(), 910_499_571_847_892_992);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Keyring {
    current: (char, Key),
    /// All keys except the current key, from the oldest to the newest.
    older: Vec<(char, Key)>,
}

impl Keyring {
    /// Creates a keyring with one key.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if the letter is not from `a` to `z`.
    pub fn new(letter: char, key: Key) -> Result<Self, Error> {
        if !letter.is_ascii_lowercase() {
            return Err(Error::invalid_option("key", "the letter must be from a to z"));
        }
        Ok(Self { current: (letter, key), older: Vec::new() })
    }

    /// Adds a key, which becomes the current key.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if the letter is not from `a` to `z`, or if another key has
    /// the same letter.
    pub fn with(mut self, letter: char, key: Key) -> Result<Self, Error> {
        if self.letters().any(|other| other == letter) {
            let reason = alloc::format!(
                "the letter {letter} belongs to two keys; give each key its own letter"
            );
            return Err(Error::invalid_option("key", &reason));
        }
        let Self { current, .. } = Self::new(letter, key)?;
        self.older.push(core::mem::replace(&mut self.current, current));
        Ok(self)
    }

    /// Returns the letters of the keys. The last letter belongs to the current key.
    pub fn letters(&self) -> impl Iterator<Item = char> {
        self.older.iter().chain([&self.current]).map(|(letter, _)| *letter)
    }

    /// Returns a converter between the IDs and the public IDs of one domain, such as `user`. The IDs have the given
    /// layout.
    ///
    /// Equal IDs in two domains have different public forms, and a public ID of one domain cannot be opened in
    /// another domain. The name of a domain must not change while its public IDs are in use.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if the name is empty or longer than 64 bytes.
    pub fn domain(&self, name: &str, layout: Layout) -> Result<PublicIds, Error> {
        if name.is_empty() || name.len() > 64 {
            let reason = alloc::format!("must be 1 to 64 bytes long, but has {}", name.len());
            return Err(Error::invalid_option("domain", &reason));
        }
        let cipher = |(letter, key): &(char, Key)| (*letter, key.of_domain(name).cipher());
        let older = self.older.iter().map(cipher).collect();
        Ok(PublicIds::new(cipher(&self.current), older, layout))
    }
}

impl PublicIds {
    /// Creates a converter from settings, for bindings and for programs that read their settings as strings. `keyring`
    /// is the string form of a [`Keyring`]. `prefix` and `since_ms` are the arguments of
    /// [`with_prefix`](Self::with_prefix) and [`since`](Self::since).
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if `keyring`, `domain` or `prefix` is invalid.
    pub fn from_text(
        keyring: &str,
        domain: &str,
        layout: Layout,
        prefix: Option<&str>,
        since_ms: Option<i64>,
    ) -> Result<Self, Error> {
        let mut ids = keyring.parse::<Keyring>()?.domain(domain, layout)?;
        if let Some(prefix) = prefix {
            ids.set_prefix(prefix)?;
        }
        Ok(match since_ms {
            Some(unix_ms) => ids.since(unix_ms),
            None => ids,
        })
    }
}

impl FromStr for Keyring {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut keyring: Option<Self> = None;
        for (number, line) in (1..).zip(text.split('\n')) {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let with_it = key_of_line(line).and_then(|(letter, key)| match keyring.take() {
                None => Self::new(letter, key),
                Some(keyring) => keyring.with(letter, key),
            });
            keyring = Some(with_it.map_err(|error| {
                Error::invalid_option("keyring", &alloc::format!("line {number}: {error}"))
            })?);
        }
        keyring.ok_or_else(|| {
            Error::invalid_option("keyring", "has no key; create one with `flakeid keygen`")
        })
    }
}

/// Parses one line of a keyring: a letter, a space and a key.
fn key_of_line(line: &str) -> Result<(char, Key), Error> {
    let [letter, b' ' | b'\t', ..] = line.as_bytes() else {
        let reason = "must have one letter from a to z, a space and 32 hexadecimal digits";
        return Err(Error::invalid_option("key", reason));
    };
    let digits = line.get(2..).unwrap_or_default().trim_ascii_start();
    Ok((char::from(*letter), digits.parse()?))
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Keyring").field(&self.letters().collect::<String>()).finish()
    }
}
