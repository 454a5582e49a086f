package io.github.flakeid;

/**
 * The counters of a generator.
 *
 * @param waits the number of waits; each wait during a call that fills an array counts as one
 * @param rollbacks the number of times that the clock went backwards
 * @param largestAhead the largest number of ticks by which an ID was ahead of the clock
 */
public record Stats(long waits, long rollbacks, long largestAhead) {}
