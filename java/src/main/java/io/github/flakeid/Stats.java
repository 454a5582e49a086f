package io.github.flakeid;

/**
 * Counts of a generator's waits, rollbacks and similar events.
 *
 * @param waits the number of waits; a fill counts each of its waits
 * @param rollbacks the number of times that the clock went backwards
 * @param largestAhead the largest number of ticks by which an ID was ahead of the clock
 */
public record Stats(long waits, long rollbacks, long largestAhead) {}
