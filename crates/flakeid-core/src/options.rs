//! Options by name, so that bindings and programs that read options from somewhere need no list of
//! their own.

use alloc::format;
use alloc::string::String;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use alloc::vec::Vec;
use core::time::Duration;

use crate::Error;
use crate::quoted::Quoted;

/// One option of the builder `B`: its name, what its values are, and where they go.
#[derive(Clone, Copy, Debug)]
pub struct NamedOption<B> {
    /// In snake case, with the unit: `max_wait_ms`.
    pub name: &'static str,
    /// What its values are.
    pub kind: OptionKind<B>,
}

/// What the values of an option are, and the function that stores one. The builder checks the rest
/// of their range when it builds, against its other options.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum OptionKind<B> {
    /// A whole number.
    Number {
        /// The smallest one.
        min: u64,
        /// The largest one. Only the error for a text that is no 64-bit number uses the two; the
        /// builder compares the rest.
        max: fn(&B) -> u64,
        /// Stores it.
        set: fn(&mut B, u64),
    },
    /// Several whole numbers, in text with commas between them. Not on `wasm32-unknown-unknown`,
    /// where no option has them and every kilobyte is downloaded.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    Numbers {
        /// The largest one, as for `Number`.
        max: fn(&B) -> u64,
        /// Stores them.
        set: fn(&mut B, Vec<u64>),
    },
    /// A length of time, in text as whole milliseconds.
    Duration(fn(&mut B, Duration)),
    /// A name or some other text.
    Text(fn(&mut B, &str) -> Result<(), Error>),
    /// `true` or `false`. Not on `wasm32-unknown-unknown` either.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    Flag(fn(&mut B, bool)),
}

/// A builder whose options can be set by name.
///
/// ```
/// use flakeid_core::{Generator, Layout, SetByName};
///
/// let mut builder = Generator::builder(Layout::TWITTER);
/// for (name, text) in [("node", "7"), ("overflow", "error"), ("max_wait_ms", "250")] {
///     builder = builder.set(name, text)?;
/// }
/// assert_eq!(builder.build()?.node(), 7);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
pub trait SetByName: Sized + 'static {
    /// All options that can be expressed as text.
    const OPTIONS: &'static [NamedOption<Self>];

    /// What options there are, with what their values are in text: `node: number, overflow: text`
    /// and so on.
    #[must_use]
    fn described() -> String {
        let mut text = String::new();
        for option in Self::OPTIONS {
            for piece in
                [if text.is_empty() { "" } else { ", " }, option.name, ": ", option.kind.name()]
            {
                text.push_str(piece);
            }
        }
        text
    }

    /// Sets the option `name` to the value that `text` expresses.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if there is no such option, or if it has a
    /// list of values and `text` is none of them;
    /// [`FieldOutOfRange`](crate::ErrorKind::FieldOutOfRange) for a text that is not a number or is
    /// too big for one.
    fn set(mut self, name: &str, text: &str) -> Result<Self, Error> {
        self.set_text(name, text)?;
        Ok(self)
    }

    /// As [`set`](Self::set), in place.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    fn set_text(&mut self, name: &str, text: &str) -> Result<(), Error> {
        option(name)?.set_text(self, text)
    }
}

/// Values that are one of a few, written by name and read by that name. `$names` lists them.
macro_rules! impl_by_name {
    ($type:ident, $option:literal, $names:literal) => {
        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }

        #[doc = concat!("Reads a [`name`](", stringify!($type), "::name).")]
        impl core::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(text: &str) -> Result<Self, $crate::Error> {
                Self::ALL
                    .into_iter()
                    .find(|known| known.name() == text)
                    .ok_or_else(|| $crate::options::unknown_name($option, $names, text))
            }
        }
    };
}

pub(crate) use impl_by_name;

/// The error for a name that is none of `names`.
pub(crate) fn unknown_name(option: &'static str, names: &str, text: &str) -> Error {
    Error::invalid_option(option, &format!("must be {names}, not {}", Quoted(text)))
}

/// The option of that name.
fn option<B: SetByName>(name: &str) -> Result<&'static NamedOption<B>, Error> {
    B::OPTIONS.iter().find(|known| known.name == name).ok_or_else(|| {
        let known = B::described();
        Error::invalid_option(
            "options",
            &format!("there is no option {}; there are {known}", Quoted(name)),
        )
    })
}

impl<B> OptionKind<B> {
    /// What its values are in text: `number`, `numbers`, `text` or `flag`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Number { .. } | Self::Duration(_) => "number",
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            Self::Numbers { .. } => "numbers",
            Self::Text(_) => "text",
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            Self::Flag(_) => "flag",
        }
    }
}

impl<B> NamedOption<B> {
    /// A whole number from 0, of which `max` is the largest.
    #[must_use]
    pub const fn number(name: &'static str, max: fn(&B) -> u64, set: fn(&mut B, u64)) -> Self {
        Self { name, kind: OptionKind::Number { min: 0, max, set } }
    }

    /// Several whole numbers from 0, of which `max` is the largest that one may be.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    #[must_use]
    pub const fn numbers(
        name: &'static str,
        max: fn(&B) -> u64,
        set: fn(&mut B, Vec<u64>),
    ) -> Self {
        Self { name, kind: OptionKind::Numbers { max, set } }
    }

    /// A length of time.
    #[must_use]
    pub const fn duration(name: &'static str, set: fn(&mut B, Duration)) -> Self {
        Self { name, kind: OptionKind::Duration(set) }
    }

    /// A name or some other text.
    #[must_use]
    pub const fn text(name: &'static str, set: fn(&mut B, &str) -> Result<(), Error>) -> Self {
        Self { name, kind: OptionKind::Text(set) }
    }

    /// Stores the value that `text` expresses.
    ///
    /// # Errors
    /// As [`SetByName::set`].
    pub fn set_text(&self, builder: &mut B, text: &str) -> Result<(), Error> {
        let name = self.name;
        match self.kind {
            OptionKind::Number { min, max, set } => {
                set(builder, number(name, text, min, max(builder))?);
            }
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            OptionKind::Numbers { max, set } => {
                let most = max(builder);
                let texts = text.split(',').filter(|_| !text.is_empty());
                let values = texts.map(|text| number(name, text, 0, most));
                let values = values.collect::<Result<_, _>>()?;
                set(builder, values);
            }
            OptionKind::Duration(set) => {
                set(builder, Duration::from_millis(number(name, text, 0, u64::MAX)?));
            }
            OptionKind::Text(set) => set(builder, text)?,
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            OptionKind::Flag(set) => set(builder, flag(name, text)?),
        }
        Ok(())
    }
}

/// Any 64-bit number; the builder checks the range.
fn number(name: &'static str, text: &str, min: u64, max: u64) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::option_out_of_range(name, &text, min, max))
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn flag(name: &'static str, text: &str) -> Result<bool, Error> {
    text.parse().map_err(|_| {
        let reason = format!("must be true or false, not {}", Quoted(text));
        Error::invalid_option(name, &reason)
    })
}
