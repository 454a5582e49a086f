//! The fields of an ID and their bit positions.

/// A field of an ID: the meaning of a range of bits.
///
/// ```
/// use flakeid_core::{Field, Layout};
///
/// let letters: String = Layout::SONYFLAKE.fields().map(|span| span.field.letter()).collect();
/// assert_eq!(letters, "tsn");
/// assert_eq!(Field::Node.name(), "node");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The time (`t`): the number of ticks since the epoch.
    Time,
    /// The datacenter (`d`): the high part of the node.
    Datacenter,
    /// The worker (`w`): the low part of the node.
    Worker,
    /// The whole node (`n`), in layouts that do not split the node into datacenter and worker.
    Node,
    /// The sequence number (`s`), which distinguishes the IDs of one node in one tick.
    Sequence,
    /// The clock sequence (`c`), which changes when the clock goes backwards, so that the same ticks can be used again.
    ClockSequence,
    /// Reserved bits (`r`), which are always zero.
    Reserved,
}

impl Field {
    pub(crate) const ALL: [Self; 7] = [
        Self::Time,
        Self::Datacenter,
        Self::Worker,
        Self::Node,
        Self::Sequence,
        Self::ClockSequence,
        Self::Reserved,
    ];

    /// The letter that represents the field in a layout descriptor.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Time => 't',
            Self::Datacenter => 'd',
            Self::Worker => 'w',
            Self::Node => 'n',
            Self::Sequence => 's',
            Self::ClockSequence => 'c',
            Self::Reserved => 'r',
        }
    }

    /// The name of the field. [`Parts`](crate::Parts) has the same names, except that its time field is called `tick`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Datacenter => "datacenter",
            Self::Worker => "worker",
            Self::Node => "node",
            Self::Sequence => "sequence",
            Self::ClockSequence => "clock_sequence",
            Self::Reserved => "reserved",
        }
    }

    pub(crate) const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }
}

/// A field of a layout, with its width and its distance from the least significant bit.
///
/// ```
/// use flakeid_core::{Field, Layout};
///
/// let layout = Layout::TWITTER;
/// let sequence = layout.fields().find(|span| span.field == Field::Sequence).unwrap();
/// assert_eq!((sequence.width, sequence.shift, sequence.max()), (12, 0, 4095));
/// assert_eq!(sequence.extract(910_499_571_847_892_993), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldSpan {
    /// The field.
    pub field: Field,
    /// The width of the field in bits, from 1 to 64.
    pub width: u8,
    /// The number of bits below the field, from 0 to 63.
    pub shift: u8,
}

impl FieldSpan {
    /// The largest value of the field: 2^`width` − 1, or 0 for reserved bits.
    #[must_use]
    pub const fn max(&self) -> u64 {
        if self.field.is(Field::Reserved) { 0 } else { Span { width: self.width, shift: 0 }.mask() }
    }

    /// Extracts the value of the field from the bits of an ID.
    #[must_use]
    pub const fn extract(&self, bits: u64) -> u64 {
        Span { width: self.width, shift: self.shift }.extract(bits)
    }
}

/// A range of `width` bits, `shift` bits above the least significant bit. The width is 0 if the layout lacks the field.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    pub(crate) width: u8,
    pub(crate) shift: u8,
}

impl Span {
    pub(crate) const NONE: Self = Self { width: 0, shift: 0 };

    pub(crate) const fn mask(self) -> u64 {
        if self.width == 0 { 0 } else { u64::MAX >> (64 - self.width) }
    }

    pub(crate) const fn place(self, value: u64) -> u64 {
        value << self.shift
    }

    pub(crate) const fn extract(self, bits: u64) -> u64 {
        bits >> self.shift & self.mask()
    }
}

/// The fields of a layout and their widths, from the most significant field to the least significant field. No field is
/// repeated, and `n` excludes `d` and `w`, so the list requires at most six entries.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FieldList {
    entries: [(Field, u8); Self::MOST],
    len: u8,
}

impl FieldList {
    const MOST: usize = 6;

    pub(crate) const fn new() -> Self {
        Self { entries: [(Field::Reserved, 0); Self::MOST], len: 0 }
    }

    /// Adds a field. Returns `false` if the field is already present or the list is full.
    pub(crate) const fn push(&mut self, field: Field, width: u8) -> bool {
        if self.len as usize == Self::MOST || self.position(field).is_some() {
            return false;
        }
        self.entries[self.len as usize] = (field, width);
        self.len += 1;
        true
    }

    pub(crate) const fn position(&self, field: Field) -> Option<usize> {
        let mut index = 0;
        while index < self.len as usize {
            if self.entries[index].0.is(field) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) const fn get(&self, index: usize) -> (Field, u8) {
        self.entries[index]
    }

    pub(crate) const fn total(&self) -> u32 {
        let (mut sum, mut index) = (0, 0);
        while index < self.len as usize {
            sum += self.entries[index].1 as u32;
            index += 1;
        }
        sum
    }

    /// Returns the bit range of a field. The result is meaningful only if the widths add up to at most 64.
    pub(crate) const fn span(&self, field: Field) -> Span {
        let Some(at) = self.position(field) else { return Span::NONE };
        let (mut shift, mut index) = (0, at + 1);
        while index < self.len as usize {
            shift += self.entries[index].1;
            index += 1;
        }
        Span { width: self.entries[at].1, shift }
    }

    pub(crate) fn spans(self) -> impl Iterator<Item = FieldSpan> {
        (0..self.len()).map(move |index| {
            let field = self.get(index).0;
            let Span { width, shift } = self.span(field);
            FieldSpan { field, width, shift }
        })
    }
}
