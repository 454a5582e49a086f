// Checks of tests/vectors/schedules.json, which run in Node and in browsers.

import { equal, failure, fieldOf, number, ok, optional, rows } from './rows.mjs';

function build({ Generator }, row, clock) {
  const { options, window } = row;
  return new Generator({
    layout: row.layout,
    node: number(row, 'node'),
    clock,
    overflow: options.overflow,
    rollback: options.rollback,
    sequenceMask: optional(options, 'sequence_mask'),
    maxAheadMs: optional(options, 'max_ahead_ms'),
    maxWaitMs: optional(options, 'max_wait_ms'),
    window:
      window === null
        ? undefined
        : { start: number(window, 'start'), fence: number(window, 'fence') },
  });
}

function call(generator, step) {
  const fill = (method) => {
    const ids = new BigUint64Array(step.n);
    return [...ids.subarray(0, generator[method](ids))];
  };
  switch (step.call) {
    case 'next_id':
      return { id: generator.nextId() };
    case 'try_next_id':
      return { id: generator.tryNextId() };
    case 'fill':
      return { ids: fill('fill') };
    case 'try_fill':
      return { ids: fill('tryFill') };
    case 'extend':
      generator.extend(number(step, 'fence'));
      return {};
    case 'retire':
      return { lastTick: generator.retire() };
    default:
      throw new Error(`call ${step.call}`);
  }
}

function check({ FlakeIdError }, step, generator, place) {
  const { expect } = step;
  if (expect.error !== undefined) {
    const error = failure(() => call(generator, step), place);
    ok(error instanceof FlakeIdError, `${place}: ${error}`);
    const told = (value) => (value === undefined ? undefined : BigInt(value));
    equal(
      [error.code, told(error.retryAfterMs), told(error.byMs), error.horizon],
      [
        expect.error,
        optional(expect, 'retry_after_ms'),
        optional(expect, 'by_ms'),
        optional(expect, 'horizon'),
      ],
      place,
    );
    return;
  }
  const outcome = call(generator, step);
  if (outcome.id !== undefined) {
    equal(outcome.id, number(expect, 'id'), place);
  } else if (outcome.ids !== undefined) {
    equal(outcome.ids.length, expect.count, place);
    equal(outcome.ids[0], optional(expect, 'first'), place);
    equal(outcome.ids.at(-1), optional(expect, 'last'), place);
  } else if (outcome.lastTick !== undefined) {
    equal(outcome.lastTick, optional(expect, 'last_tick') ?? null, place);
  } else {
    equal(expect, {}, place);
  }
}

// Runs all schedules, and returns the number of their steps.
export function playSchedules(flakeid, file) {
  let played = 0;
  for (const row of rows(file, 'schedules')) {
    const clock = new flakeid.ManualClock(number(row, 'clock'));
    if (row.build_error !== undefined) {
      const error = failure(() => build(flakeid, row, clock), row.name);
      equal([error.code, error.field], [row.build_error.code, fieldOf(row.build_error)], row.name);
      continue;
    }
    const generator = build(flakeid, row, clock);
    rows(row, 'steps').forEach((step, index) => {
      const place = `${row.name}, step ${index}: ${JSON.stringify(step)}`;
      if (step.clock !== undefined) clock.set(number(step, 'clock'));
      check(flakeid, step, generator, place);
      equal(clock.unixMs, number(step, 'clock_after'), place);
      played += 1;
    });
    const stats = {
      waits: row.stats.waits,
      rollbacks: row.stats.rollbacks,
      largestAhead: number(row.stats, 'largest_ahead'),
    };
    equal(generator.stats(), stats, row.name);
  }
  return played;
}
