//! Checks that the list of options that each builder accepts matches `options.toml`. `cargo xtask options` generates
//! the expected lists in this file.

use flakeid::{LeaseBuilder, NamespaceBuilder};
use flakeid_core::{GeneratorBuilder, RingOptions, SetByName};

fn assert_options(described: &str, expected: &[&str]) {
    let mut described: Vec<&str> = described.split(", ").collect();
    let mut expected = expected.to_vec();
    described.sort_unstable();
    expected.sort_unstable();
    assert_eq!(described, expected);
}

#[test]
fn generator_builder_options_match_the_option_table() {
    let expected = [
        // [options: generator expected]
        "node: number",
        "datacenter: number",
        "worker: number",
        "nodes: numbers",
        "window_start: number",
        "window_fence: number",
        "overflow: text",
        "rollback: text",
        "sequence_mask: number",
        "sequence_start: number",
        "max_ahead_ms: number",
        "max_wait_ms: number",
        "clock: text",
        // [/options]
    ];
    assert_options(&GeneratorBuilder::described(), &expected);
}

#[test]
fn lease_builder_options_match_the_option_table() {
    let expected = [
        // [options: lease expected]
        "namespace: text",
        "name: text",
        "node: number",
        "datacenter: number",
        "worker: number",
        "nodes_from: number",
        "nodes_to: number",
        "node_count: number",
        "ttl_ms: number",
        "window_ms: number",
        "overflow: text",
        "rollback: text",
        "sequence_mask: number",
        "sequence_start: number",
        "max_wait_ms: number",
        "open_wait_ms: number",
        "clock: text",
        "reuse: flag",
        // [/options]
    ];
    assert_options(&LeaseBuilder::described(), &expected);
}

#[test]
fn namespace_options_match_the_option_table() {
    let expected = [
        // [options: namespace expected]
        "max_ahead_ms: number",
        "max_window_ms: number",
        "max_skew_ms: number",
        "quiet_ms: number",
        "block_bits: number",
        "history: flag",
        "fresh: flag",
        // [/options]
    ];
    assert_options(&NamespaceBuilder::described(), &expected);
}

#[test]
fn ring_options_match_the_option_table() {
    let expected = [
        // [options: ring expected]
        "boost_power: number",
        "padding_factor: number",
        "refill_interval_ms: number",
        "max_age_ms: number",
        // [/options]
    ];
    assert_options(&RingOptions::described(), &expected);
}

#[cfg(feature = "fetch")]
#[test]
fn fetch_options_match_the_option_table() {
    let expected = [
        // [options: fetch expected]
        "namespace: text",
        "name: text",
        "token: text",
        "ttl_ms: number",
        "window_ms: number",
        "overflow: text",
        "rollback: text",
        "sequence_mask: number",
        "sequence_start: number",
        "max_wait_ms: number",
        "open_wait_ms: number",
        // [/options]
    ];
    assert_options(&flakeid::fetch::FetchOptions::described(), &expected);
}
