package io.github.flakeid;

/**
 * What happened to a generator besides issuing IDs.
 *
 * @param waits how many calls had to wait; a fill counts each time that it had to
 * @param rollbacks how often the clock was seen to go back
 * @param largestAhead the furthest that an ID's tick was ahead of the clock, in ticks
 */
public record Stats(long waits, long rollbacks, long largestAhead) {}
