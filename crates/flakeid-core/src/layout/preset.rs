//! The presets: the layouts of known systems, with the habits by which the guess tells them apart. A preset is a constant
//! and a line of the table, and a line in the Python reference, the types of JavaScript and the guide.

use super::Layout;
use crate::guess::Habits;
use crate::guess::Numbers::{self, Either, Known, Random, Small};

const fn split(time: u8, epoch: i64) -> Layout {
    Layout::builder().time(time).datacenter(5).worker(5).sequence(12).epoch(epoch).build_const()
}

const fn unsplit(time: u8, node: u8, sequence: u8, epoch: i64, unit_ms: u64) -> Layout {
    Layout::builder()
        .time(time)
        .node(node)
        .sequence(sequence)
        .epoch(epoch)
        .unit_ms(unit_ms)
        .build_const()
}

impl Layout {
    /// The layout of Twitter's Snowflake, which is flakeid's default layout: `t41.d5.w5.s12@1288834974657/1ms`. IDs are
    /// positive as signed 64-bit integers until the horizon, 2080-07-10. See
    /// <https://github.com/twitter-archive/snowflake>.
    pub const TWITTER: Self = split(41, 1_288_834_974_657);

    /// The layout of flake-idgen and similar libraries: `t42.d5.w5.s12@0/1ms`. The 64-bit IDs are stored as 8 bytes in
    /// big-endian order. The top bit is set from 2039-09-07 onward. See <https://github.com/T-PWK/flake-idgen>.
    pub const FLAKEID: Self = split(42, 0);

    /// A layout with an unsplit 10-bit node and the Unix epoch: `t41.n10.s12@0/1ms`. The layout ends on 2039-09-07.
    pub const PLAIN: Self = unsplit(41, 10, 12, 0, 1);

    /// The default layout of Baidu's `UidGenerator`: `t28.n22.s13@1463673600000/1s`. The epoch is midnight in UTC+8.
    /// The layout ended at 2024-11-20T13:24:16Z: existing IDs can be decoded, but generating IDs fails with
    /// `HorizonReached`. See <https://github.com/baidu/uid-generator>.
    pub const BAIDU: Self = unsplit(28, 22, 13, 1_463_673_600_000, 1000);

    /// The layout in the configuration example for Baidu's `CachedUidGenerator`: `t29.n21.s13@1474300800000/1s`. The
    /// layout ends on 2033-09-24.
    pub const BAIDU_29: Self = unsplit(29, 21, 13, 1_474_300_800_000, 1000);

    /// The layout of Sonyflake, version 1: `t39.s8.n16@1409529600000/10ms`, with the sequence above the node. See
    /// <https://github.com/sony/sonyflake>.
    pub const SONYFLAKE: Self = Self::builder()
        .time(39)
        .sequence(8)
        .node(16)
        .epoch(1_409_529_600_000)
        .unit_ms(10)
        .build_const();

    /// Discord's 64-bit layout: `t42.d5.w5.s12@1420070400000/1ms`. The top bit is set from 2084-09-06 onward. Discord's
    /// worker corresponds to flakeid's datacenter, and Discord's process corresponds to flakeid's worker. See
    /// <https://discord.com/developers/docs/reference#snowflakes>.
    pub const DISCORD: Self = split(42, 1_420_070_400_000);

    /// Instagram's 64-bit layout: `t41.n13.s10@1314220021721/1ms`. Instagram's shard corresponds to flakeid's node. See
    /// "Sharding & IDs at Instagram" (Instagram Engineering, 2012).
    pub const INSTAGRAM: Self = unsplit(41, 13, 10, 1_314_220_021_721, 1);

    /// A 53-bit layout whose IDs can be represented exactly as JavaScript numbers: `t41.n6.s6@1582136402000/1ms`. This
    /// layout is the default of yitter's `IdGenerator`. See <https://github.com/yitter/IdGenerator>.
    pub const JS_SAFE: Self = unsplit(41, 6, 6, 1_582_136_402_000, 1);

    /// Mastodon's layout: `t47.s16@0/1ms`. Mastodon reserves 48 bits for the milliseconds, but the first of these bits
    /// is the sign bit of a `bigint` and is never set. The last 16 bits combine a hash and a per-table sequence. The
    /// layout has no node. See <https://github.com/mastodon/mastodon/blob/main/lib/mastodon/snowflake.rb>.
    pub const MASTODON: Self =
        Self::builder().time(47).sequence(16).epoch(0).unit_ms(1).build_const();

    /// The TSID layout of `tsid-creator`, with the default of 10 node bits: `t42.n10.s12@1577836800000/1ms`. The IDs
    /// have 64 bits. See <https://github.com/f4b6a3/tsid-creator>.
    pub const TSID: Self = unsplit(42, 10, 12, 1_577_836_800_000, 1);

    /// The default millisecond layout of `CosId`: `t41.n10.s12@1577203200000/1ms`. See
    /// <https://github.com/Ahoo-Wang/CosId>.
    pub const COSID: Self = unsplit(41, 10, 12, 1_577_203_200_000, 1);

    /// The layout of pgEdge's `snowflake` extension: `t41.n10.s12@1672531200000/1ms`. Before October 2023, the
    /// extension placed the counter above the node. See <https://github.com/pgEdge/snowflake>.
    pub const PGEDGE: Self = unsplit(41, 10, 12, 1_672_531_200_000, 1);

    /// Returns the name and the layout of every preset. The name of a preset is accepted wherever a descriptor is
    /// accepted.
    #[must_use]
    pub const fn presets() -> &'static [(&'static str, Self)] {
        &NAMED
    }

    /// The name of the preset with this layout, or `None` if no preset has this layout.
    #[must_use]
    pub fn preset_name(&self) -> Option<&'static str> {
        NAMED.iter().find(|(_, preset)| preset == self).map(|(name, _)| *name)
    }
}

/// The datacenter numbers in the IDs of published tweets.
const OF_TWITTER: &[u64] = &[1, 10, 11];
/// The beginning of 2013, the year in which flake-idgen and similar libraries appeared. No earlier system used the Unix
/// epoch.
const YEAR_2013: i64 = 1_356_998_400_000;
/// The release date of Mastodon 2.0.0, the first version that generated IDs with the `mastodon` layout.
const MASTODON_2: i64 = 1_506_816_000_000;

/// The presets, in the order in which lists name them. A system was first used at its epoch, unless the line says
/// otherwise.
pub(crate) const PRESETS: [(&str, Layout, Habits); 13] = [
    preset("twitter", Layout::TWITTER, 0, [Known(OF_TWITTER), Random], Small),
    born(YEAR_2013, preset("flakeid", Layout::FLAKEID, 2, [Either, Either], Small)),
    born(YEAR_2013, preset("plain", Layout::PLAIN, 2, [Either, Small], Small)),
    preset("baidu", Layout::BAIDU, 5, [Either, Small], Either),
    preset("baidu-29", Layout::BAIDU_29, 5, [Either, Small], Either),
    preset("sonyflake", Layout::SONYFLAKE, 1, [Random, Small], Small),
    preset("discord", Layout::DISCORD, 1, [Small, Small], Either),
    preset("instagram", Layout::INSTAGRAM, 3, [Either, Small], Random),
    preset("js-safe", Layout::JS_SAFE, 0, [Small, Small], Either),
    born(MASTODON_2, preset("mastodon", Layout::MASTODON, 1, [Small, Small], Random)),
    preset("tsid", Layout::TSID, 4, [Random, Small], Random),
    preset("cosid", Layout::COSID, 6, [Either, Small], Small),
    preset("pgedge", Layout::PGEDGE, 8, [Small, Small], Small),
];

/// The names and the layouts of the presets.
const NAMED: [(&str, Layout); PRESETS.len()] = {
    let mut named = [("", Layout::TWITTER); PRESETS.len()];
    let mut at = 0;
    while at < named.len() {
        named[at] = (PRESETS[at].0, PRESETS[at].1);
        at += 1;
    }
    named
};

const fn preset(
    name: &'static str,
    layout: Layout,
    rare: u64,
    node: [Numbers; 2],
    sequence: Numbers,
) -> (&'static str, Layout, Habits) {
    (name, layout, Habits { born: layout.epoch(), rare, node, sequence })
}

const fn born(
    born: i64,
    (name, layout, habits): (&'static str, Layout, Habits),
) -> (&'static str, Layout, Habits) {
    (name, layout, Habits { born, ..habits })
}
