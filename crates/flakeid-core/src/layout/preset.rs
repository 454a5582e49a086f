use super::Layout;

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

    const PRESETS: [(&'static str, Self); 13] = [
        ("twitter", Self::TWITTER),
        ("flakeid", Self::FLAKEID),
        ("plain", Self::PLAIN),
        ("baidu", Self::BAIDU),
        ("baidu-29", Self::BAIDU_29),
        ("sonyflake", Self::SONYFLAKE),
        ("discord", Self::DISCORD),
        ("instagram", Self::INSTAGRAM),
        ("js-safe", Self::JS_SAFE),
        ("mastodon", Self::MASTODON),
        ("tsid", Self::TSID),
        ("cosid", Self::COSID),
        ("pgedge", Self::PGEDGE),
    ];

    /// Returns the name and the layout of every preset. The name of a preset is accepted wherever a descriptor is
    /// accepted.
    #[must_use]
    pub const fn presets() -> &'static [(&'static str, Self)] {
        &Self::PRESETS
    }

    /// The name of the preset with this layout, or `None` if no preset has this layout.
    #[must_use]
    pub fn preset_name(&self) -> Option<&'static str> {
        Self::PRESETS.iter().find(|(_, preset)| preset == self).map(|(name, _)| *name)
    }
}
