'use strict';

// Repeats calls after a wait in JavaScript, because WebAssembly cannot sleep. The calls are
// generator functions that yield the milliseconds to wait: one driver blocks the thread, and the
// other lets the event loop continue.
//
// Both clocks may stand still: test runners replace them, and some runtimes only advance them between
// events. Every wait therefore counts as its intended length, and spinning ends after a number of readings.

const { FlakeIdError } = require('./error.js');

const LONGEST_BLOCK = 10;
const LONGEST_SPIN = 1;
const LONGEST_TURN = 10;
const SHORTEST_WAIT = 0.001;
// Together with the readings before and after a wait, a call reads a clock at most 1,000 times.
const MOST_READINGS = 990;
// These steps before each reading take more than a microsecond, so that the readings last for LONGEST_SPIN.
const STEPS = 2000;
// The result of the steps, which is stored because engines omit code without effects.
let spun = 0;

// Atomics.wait fails if blocking is not allowed: on a page's main thread and in some workers.
const cell =
  typeof SharedArrayBuffer === 'function' ? new Int32Array(new SharedArrayBuffer(4)) : undefined;
const canBlock = (() => {
  try {
    return cell !== undefined && Atomics.wait(cell, 0, 0, 0) === 'timed-out';
  } catch {
    return false;
  }
})();

// Returns the longest time for which a call may block its thread, in a layout with ticks of this length.
function longestBlock(unitMs) {
  return Math.min(unitMs, canBlock ? LONGEST_BLOCK : LONGEST_SPIN);
}

function block(ms) {
  if (canBlock) {
    Atomics.wait(cell, 0, 0, ms);
    return;
  }
  const until = Date.now() + ms;
  const last = performance.now() + ms;
  for (let reading = 0; reading < MOST_READINGS; reading += 1) {
    if (Date.now() >= until || performance.now() >= last) return;
    for (let step = 0; step < STEPS; step += 1) spun = (Math.imul(spun, 5) + step) | 0;
  }
}

function runBlocking(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    block(value);
  }
}

async function runWaiting(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await new Promise((resolve) => {
      setTimeout(resolve, value);
    });
  }
}

// Makes attempts until one has a result, or until `longest` or the core's own limit has passed.
function* attempting(obstacle, longest, attempt) {
  let began;
  let first;
  let waited = 0;
  for (;;) {
    const time = Date.now();
    const result = attempt(time);
    if (result !== undefined) return result;
    const failure = obstacle.takeFailure();
    const wait = obstacle.takeWait();
    if (wait === undefined) throw failure;
    const [until, atMost] = wait;
    const now = performance.now();
    if (began === undefined) {
      began = now;
      first = time;
      obstacle.countWait();
    }
    const left = Math.min(longest, atMost) - Math.max(waited, now - began);
    if (left <= 0) throw waited > 0 && time === first ? standingStill(failure, time) : failure;
    const pause = Math.max(SHORTEST_WAIT, Math.min(until - Date.now(), left));
    yield pause;
    waited += pause;
  }
}

function standingStill({ code, retryAfterMs, byMs }, time) {
  const message =
    `the clock stands still: Date.now() returned ${time} before and after a wait; `
    + 'use nextIdAsync, or a ManualClock in tests with fake timers';
  return new FlakeIdError(code, message, { retryAfterMs, byMs });
}

// Fills `ids` from the index `from`, by attempts that fill a part of at most `room` and return its
// length. Returns the index after the last ID.
function* filling(obstacle, longest, room, ids, from, attempt) {
  let turn = performance.now();
  let filled = from;
  while (filled < ids.length) {
    const wanted = Math.min(ids.length - filled, room);
    let count;
    try {
      count = yield* attempting(obstacle, longest, (now) => attempt(ids, filled, wanted, now));
    } catch (failure) {
      if (filled === 0) throw failure;
      break;
    }
    filled += count;
    // If the core does not allow another wait, the obstacle has lasted longer than max_wait.
    if (count < wanted && obstacle.takeWait() === undefined) break;
    if (longest === Infinity && performance.now() - turn > LONGEST_TURN) {
      yield 0;
      turn = performance.now();
    }
  }
  return filled;
}

module.exports = { attempting, filling, longestBlock, runBlocking, runWaiting };
