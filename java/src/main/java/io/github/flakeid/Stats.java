package io.github.flakeid;

/**
 * The counters of a generator.
 *
 * @param waits the number of waits; if a call that fills an array waits several times, each wait is counted
 * @param rollbacks the number of times that the clock went backwards
 * @param largestAhead the largest number of ticks by which an ID was ahead of the clock
 */
public record Stats(long waits, long rollbacks, long largestAhead) {}
