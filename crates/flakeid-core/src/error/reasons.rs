//! The reasons why a string or a builder does not define a valid layout, and the reasons why a
//! string is not an ID.

use core::fmt;

use crate::field::Field;
use crate::layout::PRESETS;
use crate::quoted::QuotedChar;

/// The reason why the given fields, epoch and unit do not form a valid layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutFault {
    Shape,
    Letter(char),
    Width(Field),
    Repeated(Field),
    NoTime,
    TimeNotFirst(Field),
    NodeAndSplit,
    HalfSplit,
    SplitApart,
    Total(u32),
    EpochText,
    Epoch(i64),
    EpochInSeconds(i64),
    UnitText,
    UnitZero,
    Horizon,
    Generates { position: u32, clock_sequence: u32 },
}

impl LayoutFault {
    /// The fixed part of the message, without the invalid value. Compile-time errors contain only
    /// this part.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Shape => "is neither a preset",
            Self::Letter(_) => "a field letter must be t, d, w, n, s, c or r",
            Self::Width(_) => "a field's width must be from 1 to 64 bits",
            Self::Repeated(_) => "a field is repeated",
            Self::NoTime => "the time field (t) is missing",
            Self::TimeNotFirst(_) => {
                "the time field (t) must come first, so that IDs sort by time (unused top bits \
                 do not need a field)"
            }
            Self::NodeAndSplit => "use either node (n), or both datacenter (d) and worker (w)",
            Self::HalfSplit => {
                "datacenter (d) and worker (w) require each other; use n for a node in one field"
            }
            Self::SplitApart => "worker (w) must directly follow datacenter (d)",
            Self::Total(_) => "the widths must sum to at most 64 bits",
            Self::EpochText => "the epoch must be Unix milliseconds or an RFC 3339 timestamp",
            Self::Epoch(_) => {
                "the epoch must be from 0 to 253402300799999 Unix milliseconds (the end of the year 9999)"
            }
            Self::EpochInSeconds(_) => {
                "the epoch must be Unix milliseconds, but seems to be Unix seconds"
            }
            Self::UnitText => "the unit must be a whole number of ms or s, as in 1ms, 10ms or 1s",
            Self::UnitZero => "the unit must be at least 1 ms",
            Self::Horizon => {
                "epoch + 2^(time bits) * unit must be at most 2^63-1 ms; use fewer time bits or a \
                 shorter unit"
            }
            Self::Generates { .. } => {
                "this layout can decode IDs but not generate them: time and sequence may have at \
                 most 63 bits together, or 62 with a clock sequence"
            }
        }
    }
}

impl fmt::Display for LayoutFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())?;
        match self {
            Self::Shape => {
                for (at, (name, ..)) in PRESETS.iter().enumerate() {
                    write!(f, "{}{name}", if at == 0 { " (" } else { ", " })?;
                }
                f.write_str(") nor FIELDS@EPOCH/UNIT, as in t41.n10.s12@1288834974657/1ms")
            }
            Self::Letter(letter) => write!(f, ", not {}", QuotedChar(*letter)),
            Self::Width(field) | Self::Repeated(field) => {
                write!(f, " ({}, {})", field.letter(), field.name())
            }
            Self::TimeNotFirst(first) => {
                write!(f, "; here the first is {} ({})", first.letter(), first.name())
            }
            Self::Total(sum) => write!(f, ", not {sum}"),
            Self::Epoch(epoch) => write!(f, ", not {epoch}"),
            Self::EpochInSeconds(epoch) => write!(
                f,
                ": write {epoch}000 instead of {epoch} (only a descriptor can contain an epoch in January 1970)"
            ),
            Self::Generates { position, clock_sequence: 0 } => write!(f, ", not {position}"),
            Self::Generates { position, clock_sequence } => {
                write!(f, ", not {}", position + clock_sequence)
            }
            _ => Ok(()),
        }
    }
}

/// The end of the messages about UUIDs that contain no ID.
const ONLY_OURS: &str = "flakeid did not create it, so it contains no ID";

/// The reason why a string is not a valid ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFault {
    Empty,
    Length { least: u8, most: u8 },
    Digit(char),
    LeadingZero,
    Overflow,
    UuidShape,
    UuidVariant,
    UuidVersion(u8),
    UuidMark,
}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the string is empty"),
            Self::Length { least, most } if least == most => {
                write!(f, "the string must have exactly {most} digits")
            }
            Self::Length { least, most } => write!(f, "the string must have {least} to {most} digits"),
            Self::Digit(digit) => {
                write!(f, "{} is not a valid digit in this text form", QuotedChar(*digit))
            }
            Self::LeadingZero => f.write_str("the string must not begin with a zero digit"),
            Self::Overflow => f.write_str(
                "the number is larger than the largest 64-bit ID; an ID must be from 0 to 18446744073709551615",
            ),
            Self::UuidShape => f.write_str(
                "a UUID must have 36 characters: hexadecimal digits in groups of 8, 4, 4, 4 and 12, with hyphens \
                 between the groups",
            ),
            Self::UuidVariant => {
                write!(f, "the UUID does not have the variant of RFC 9562; {ONLY_OURS}")
            }
            Self::UuidVersion(version) => {
                write!(f, "the UUID has version {version}, but an ID requires version 8; {ONLY_OURS}")
            }
            Self::UuidMark => write!(
                f,
                "the UUID has version 8, but its last 58 bits are not those of flakeid's UUIDs, which end with \
                 66-6c616b656964; {ONLY_OURS}"
            ),
        }
    }
}
