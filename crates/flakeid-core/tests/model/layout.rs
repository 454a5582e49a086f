//! A model of layouts that multiplies by powers of two instead of shifting bits.

use flakeid_core::{ErrorKind, Layout};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

/// A layout, which may be invalid. `fields` contains the letter and the width of each field, beginning with the most
/// significant field.
#[derive(Clone, Debug)]
pub struct BigLayout {
    pub fields: Vec<(char, u32)>,
    pub epoch: i128,
    pub unit: i128,
}

impl BigLayout {
    pub fn new(fields: &str, epoch: i128, unit: i128) -> Self {
        let fields = fields
            .split('.')
            .map(|item| (item.chars().next().unwrap(), item[1..].parse().unwrap()));
        Self { fields: fields.collect(), epoch, unit }
    }

    pub fn descriptor(&self) -> String {
        let fields: Vec<_> =
            self.fields.iter().map(|(letter, width)| format!("{letter}{width}")).collect();
        let unit = if self.unit % 1000 == 0 {
            format!("{}s", self.unit / 1000)
        } else {
            format!("{}ms", self.unit)
        };
        format!("{}@{}/{unit}", fields.join("."), self.epoch)
    }

    pub fn to_layout(&self) -> Layout {
        self.descriptor().parse().unwrap()
    }

    fn width_of(&self, letters: &str) -> u32 {
        self.fields.iter().filter(|(l, _)| letters.contains(*l)).map(|(_, width)| width).sum()
    }

    fn letters(name: &str) -> &'static str {
        match name {
            "time" => "t",
            "node" => "dwn",
            "clock_sequence" => "c",
            "sequence" => "s",
            _ => panic!("no field {name}"),
        }
    }

    /// Returns the largest value of a field.
    pub fn most(&self, name: &str) -> i128 {
        (1 << self.width_of(Self::letters(name))) - 1
    }

    pub fn width(&self) -> u32 {
        self.fields.iter().map(|(_, width)| width).sum()
    }

    /// Returns the ID: the sum of value × 2^n over all fields, where n is the number of bits below the field.
    pub fn pack(&self, values: &[(&str, u64)]) -> i128 {
        let mut sum = 0;
        for (name, value) in values {
            let letters = Self::letters(name);
            if let Some(last) = self.fields.iter().rposition(|(l, _)| letters.contains(*l)) {
                let below: u32 = self.fields[last + 1..].iter().map(|(_, width)| width).sum();
                sum += i128::from(*value) * (1 << below);
            }
        }
        sum
    }

    pub fn used_bits(&self) -> i128 {
        let most = |name| (name, self.most(name) as u64);
        self.pack(&[most("time"), most("node"), most("clock_sequence"), most("sequence")])
    }

    pub fn horizon(&self) -> i128 {
        self.epoch + (1 << self.width_of("t")) * self.unit
    }

    pub fn fits_i64_until(&self) -> i128 {
        if self.width() == 64 {
            self.epoch + (1 << (self.width_of("t") - 1)) * self.unit
        } else {
            self.horizon()
        }
    }

    pub fn tick_at(&self, unix_ms: i128) -> Result<i128, ErrorKind> {
        if unix_ms < self.epoch {
            return Err(ErrorKind::BeforeEpoch);
        }
        let tick = (unix_ms - self.epoch) / self.unit;
        if tick > self.most("time") { Err(ErrorKind::HorizonReached) } else { Ok(tick) }
    }

    pub fn clamped_tick(&self, unix_ms: i128) -> i128 {
        ((unix_ms - self.epoch).div_euclid(self.unit)).clamp(0, self.most("time"))
    }

    pub fn is_valid(&self) -> bool {
        let letters: String = self.fields.iter().map(|(letter, _)| *letter).collect();
        let once = letters.chars().all(|l| letters.matches(l).count() == 1);
        let node = match (letters.contains('d'), letters.contains('w'), letters.contains('n')) {
            (true, true, false) => letters.contains("dw"),
            (false, false, _) => true,
            _ => false,
        };
        once && node
            && letters.starts_with('t')
            && self.fields.iter().all(|(_, width)| (1..=64).contains(width))
            && self.width() <= 64
            && (0..=253_402_300_799_999).contains(&self.epoch)
            && self.unit >= 1
            && self.horizon() <= i128::from(i64::MAX)
    }
}

fn unit() -> impl Strategy<Value = i128> {
    prop_oneof![Just(1), Just(5), Just(10), Just(1000), Just(60_000), 1..100_000i128]
}

fn epoch() -> impl Strategy<Value = i128> {
    prop_oneof![Just(0), Just(1_288_834_974_657), 0..253_402_300_800_000i128]
}

/// Generates layouts with arbitrary field letters in any order. Many of these layouts are invalid.
fn wild() -> impl Strategy<Value = BigLayout> {
    let field = (prop::sample::select(b"tdwnscr".to_vec()), 0..70u32);
    (vec(field, 1..7), epoch(), 0..3i128).prop_map(|(fields, epoch, unit)| BigLayout {
        fields: fields.into_iter().map(|(letter, width)| (char::from(letter), width)).collect(),
        epoch,
        unit,
    })
}

/// Generates valid layouts of up to 64 bits. The time field is first, and some of the other fields follow in any order.
pub fn valid_layout() -> impl Strategy<Value = BigLayout> {
    let below = subsequence(vec!["n", "dw", "s", "c", "r"], 0..=4)
        .prop_filter("one kind of node", |items| !(items.contains(&"n") && items.contains(&"dw")))
        .prop_shuffle();
    (1..=60u32, below, vec(any::<Index>(), 6), epoch(), unit()).prop_filter_map(
        "beyond 2^63 ms",
        |(time, below, picks, epoch, unit)| {
            let mut fields = vec![('t', time)];
            let mut left = 64 - time;
            for (letter, pick) in below.iter().flat_map(|item| item.chars()).zip(picks) {
                // The width is limited so that, if possible, each of the following fields gets at least one bit.
                let width = 1 + pick.index(left.saturating_sub(6).max(1) as usize) as u32;
                if width > left {
                    return None;
                }
                left -= width;
                fields.push((letter, width));
            }
            Some(BigLayout { fields, epoch, unit }).filter(BigLayout::is_valid)
        },
    )
}

pub fn any_layout() -> impl Strategy<Value = BigLayout> {
    prop_oneof![wild(), valid_layout()]
}

/// Generates 64-bit values of every magnitude, so that the tests also cover narrow fields.
pub fn value() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32).prop_map(|(value, shift)| value >> shift)
}
