// Tests with a clock that stands still: each run generates the same IDs.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Generator, ManualClock, decode } from 'flakeid-core';

test('an order gets an ID of the time of the clock', () => {
  const clock = new ManualClock(1_800_000_000_000); // Unix milliseconds
  const generator = new Generator({ node: 7, clock });
  const first = generator.nextId();
  assert.equal(decode(first).unixMs, 1_800_000_000_000);

  clock.advance(24 * 60 * 60 * 1000); // one day
  const second = generator.nextId();
  assert.equal(decode(second).unixMs, 1_800_086_400_000);
  assert.ok(second > first);
});
