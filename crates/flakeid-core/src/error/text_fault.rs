//! The reasons why a text is not an ID.

use core::fmt;

use crate::quoted::QuotedChar;

/// Why a text is not an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFault {
    Empty,
    Length { least: u8, most: u8 },
    Digit(char),
    LeadingZero,
    Overflow,
}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Length { least, most } if least == most => {
                write!(f, "it must have exactly {most} digits")
            }
            Self::Length { least, most } => write!(f, "it must have {least} to {most} digits"),
            Self::Digit(digit) => {
                write!(f, "{} is not a digit of it", QuotedChar(*digit))
            }
            Self::LeadingZero => f.write_str("it must not begin with a zero digit"),
            Self::Overflow => f.write_str(
                "it is larger than the largest 64-bit ID: must be from 0 to 18446744073709551615",
            ),
        }
    }
}
