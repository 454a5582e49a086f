//! Sets options by name, so that bindings and programs that read options as strings do not need their own lists of
//! options.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::Error;
use crate::quoted::Quoted;
use crate::sync::HAS_NATIVE_PARTS;

/// An option of the builder `B`: its name, the kind of its values, and the function that stores a
/// value.
///
/// ```
/// use flakeid_core::NamedOption;
///
/// let option: NamedOption<u64> = NamedOption::number("size", |_| 100, |size, number| *size = number);
/// let mut size = 0;
/// option.set_text(&mut size, "12")?;
/// assert_eq!(size, 12);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NamedOption<B> {
    /// The name of the option in snake case, including the unit if the value has one, such as `max_wait_ms`.
    pub name: &'static str,
    /// The kind of the values.
    pub kind: OptionKind<B>,
}

/// The kind of an option's values, with the function that stores a value. The builder checks ranges
/// and combinations of options when it builds.
///
/// ```
/// use flakeid_core::{GeneratorBuilder, SetByName};
///
/// let overflow = GeneratorBuilder::OPTIONS.iter().find(|option| option.name == "overflow");
/// assert_eq!(overflow.map(|option| option.kind.name()), Some("text"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum OptionKind<B> {
    /// A whole number.
    Number {
        /// The smallest allowed value. This value appears only in the error message for a string that is not a 64-bit
        /// number. The builder itself checks the range of numbers.
        min: u64,
        /// The largest allowed value. This value appears only in the error message for a string that is not a 64-bit
        /// number. The builder itself checks the range of numbers.
        max: fn(&B) -> u64,
        /// The function that stores the number in the builder.
        set: fn(&mut B, u64),
    },
    /// Several whole numbers, which are separated by commas in the string form.
    Numbers {
        /// The largest allowed value of each number.
        max: fn(&B) -> u64,
        /// The function that stores the numbers in the builder.
        set: fn(&mut B, Vec<u64>),
    },
    /// A duration. The string form is a whole number of milliseconds.
    Duration(fn(&mut B, Duration)),
    /// A name or another string.
    Text(fn(&mut B, &str) -> Result<(), Error>),
    /// `true` or `false`.
    Flag(fn(&mut B, bool)),
}

/// A builder whose options can be set by name.
///
/// ```
/// use flakeid_core::{Generator, GeneratorBuilder, Layout, SetByName};
///
/// let mut builder = Generator::builder(Layout::TWITTER);
/// for (name, text) in [("node", "7"), ("overflow", "error"), ("max_wait_ms", "250")] {
///     builder = builder.set(name, text)?;
/// }
/// assert_eq!(builder.build()?.node(), Some(7));
/// assert!(GeneratorBuilder::described().starts_with("node: number"));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
pub trait SetByName: Sized + 'static {
    /// All options that can be set by name.
    const OPTIONS: &'static [NamedOption<Self>];

    /// Returns the names of all options with the kinds of their values, for example `node: number, overflow: text`.
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

    /// Sets the option `name` to the value that the string `text` contains.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if no option has this name, or if `text` is not in the
    /// option's list of values; [`FieldOutOfRange`](crate::ErrorKind::FieldOutOfRange) if the option is a number and
    /// `text` is not a 64-bit number.
    fn set(mut self, name: &str, text: &str) -> Result<Self, Error> {
        self.set_text(name, text)?;
        Ok(self)
    }

    /// Sets an option in the same way as [`set`](Self::set), but changes the builder in place instead of returning a
    /// changed builder.
    ///
    /// # Errors
    /// The same errors as [`set`](Self::set).
    fn set_text(&mut self, name: &str, text: &str) -> Result<(), Error> {
        option(name)?.set_text(self, text)
    }
}

/// Implements `Display` and `FromStr` for a type with named values. `$names` lists the names for error messages.
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

/// Returns the error for a value that is not in the list `names`.
pub(crate) fn unknown_name(option: &'static str, names: &str, text: &str) -> Error {
    Error::invalid_option(option, &format!("must be {names}, not {}", Quoted(text)))
}

/// Returns the option with the given name. The error for an unknown name lists all options.
fn option<B: SetByName>(name: &str) -> Result<&'static NamedOption<B>, Error> {
    B::OPTIONS.iter().find(|known| known.name == name).ok_or_else(|| {
        let known = B::described();
        Error::invalid_option(
            "options",
            &format!("there is no option {}; the options are {known}", Quoted(name)),
        )
    })
}

impl<B> OptionKind<B> {
    /// The name of this kind in messages: `number`, `numbers`, `text` or `flag`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Number { .. } | Self::Duration(_) => "number",
            Self::Numbers { .. } => "numbers",
            Self::Text(_) => "text",
            Self::Flag(_) => "flag",
        }
    }
}

impl<B> NamedOption<B> {
    /// Creates an option that takes a whole number from 0 to `max`.
    #[must_use]
    pub const fn number(name: &'static str, max: fn(&B) -> u64, set: fn(&mut B, u64)) -> Self {
        Self { name, kind: OptionKind::Number { min: 0, max, set } }
    }

    /// Creates an option that takes several whole numbers, each from 0 to `max`.
    #[must_use]
    pub const fn numbers(
        name: &'static str,
        max: fn(&B) -> u64,
        set: fn(&mut B, Vec<u64>),
    ) -> Self {
        Self { name, kind: OptionKind::Numbers { max, set } }
    }

    /// Creates an option that takes a duration in whole milliseconds.
    #[must_use]
    pub const fn duration(name: &'static str, set: fn(&mut B, Duration)) -> Self {
        Self { name, kind: OptionKind::Duration(set) }
    }

    /// Creates an option that takes a name or another string.
    #[must_use]
    pub const fn text(name: &'static str, set: fn(&mut B, &str) -> Result<(), Error>) -> Self {
        Self { name, kind: OptionKind::Text(set) }
    }

    /// Parses `text`, and stores the value in the builder.
    ///
    /// # Errors
    /// The same errors as [`SetByName::set`], except the error for an unknown option.
    pub fn set_text(&self, builder: &mut B, text: &str) -> Result<(), Error> {
        let name = self.name;
        match self.kind {
            OptionKind::Number { min, max, set } => {
                set(builder, number(name, text, min, max(builder))?);
            }
            OptionKind::Numbers { max, set } if HAS_NATIVE_PARTS => {
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
            OptionKind::Flag(set) if HAS_NATIVE_PARTS => set(builder, flag(name, text)?),
            OptionKind::Numbers { .. } | OptionKind::Flag(_) => {
                return Err(Error::invalid_option(name, "not available on WebAssembly"));
            }
        }
        Ok(())
    }
}

/// Parses a 64-bit number without checking the range. The builder checks the range later.
fn number(name: &'static str, text: &str, min: u64, max: u64) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::option_out_of_range(name, &text, min, max))
}

fn flag(name: &'static str, text: &str) -> Result<bool, Error> {
    text.parse().map_err(|_| {
        let reason = format!("must be true or false, not {}", Quoted(text));
        Error::invalid_option(name, &reason)
    })
}
