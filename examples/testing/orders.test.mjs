// Tests of an application: one generator for its tests, and a clock that a test moves.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Generator, ManualClock, decode } from 'flakeid-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

let ids;

beforeAll(async () => {
  // This store lives as long as the rows of the tests.
  const folder = mkdtempSync(join(tmpdir(), 'ids-'));
  ids = await Generator.lease(`sqlite://${folder}/flakeid.db`);
});

afterAll(() => ids.close());

test('two orders have two IDs', () => {
  expect(ids.nextId()).toBeLessThan(ids.nextId());
});

test('an order contains its time', () => {
  const clock = new ManualClock(1_800_000_000_000); // Unix milliseconds
  const fixed = new Generator({ node: 7, clock });
  expect(decode(fixed.nextId()).unixMs).toBe(1_800_000_000_000);

  clock.advance(24 * 60 * 60 * 1000); // a day
  expect(decode(fixed.nextId()).unixMs).toBe(1_800_086_400_000);
});
