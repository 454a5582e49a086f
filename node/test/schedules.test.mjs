import assert from 'node:assert/strict';
import { test } from 'node:test';

import { playSchedules } from './schedules.mjs';
import flakeid from './subject.mjs';
import { load } from './vectors.mjs';

test('generators follow every schedule', () => {
  assert.ok(playSchedules(flakeid, load('schedules')) > 0);
});
