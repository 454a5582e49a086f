'use strict';

// Waits for IDs. A backend's `poll` makes an attempt, and returns its result or the milliseconds after which to make
// another one. It throws the error of the attempt if the call may not wait as long. The argument of `poll` is the
// number of milliseconds that the call has waited.
//
// Both clocks may stand still: test runners replace them, and some runtimes only advance them between
// events. Every wait therefore counts as its intended length, and spinning ends after a number of readings.

const LONGEST_TIMER = 2 ** 31 - 1;
const LONGEST_BLOCK = 10;
const LONGEST_SPIN = 1;
// Together with the readings before and after a wait, a call reads a clock at most 1,000 times.
const MOST_READINGS = 990;
// These steps before each reading take more than a microsecond, so that the readings last for LONGEST_SPIN.
const STEPS = 2000;
// The result of the steps, which is stored because engines omit code without effects.
let spun = 0;

// Fake clocks of tests replace the timers of the program.
const { setTimeout, setImmediate = setTimeout } = globalThis;

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

function blocked(poll) {
  let polled = poll(0);
  const begun = performance.now();
  for (let waited = 0; typeof polled === 'number'; polled = poll(waited)) {
    block(polled);
    waited = Math.max(waited + polled, performance.now() - begun);
  }
  return polled;
}

async function awaited(poll) {
  let polled = poll(0);
  if (typeof polled !== 'number') return polled;
  const begun = performance.now();
  for (let waited = 0; typeof polled === 'number'; polled = poll(waited)) {
    const pause = Math.min(polled, LONGEST_TIMER);
    await new Promise((resolve) => {
      setTimeout(resolve, pause);
    });
    waited = Math.max(waited + pause, performance.now() - begun);
  }
  return polled;
}

// Lets the event loop run other callbacks. An `await` alone only runs other microtasks.
function turn() {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

// Collects `n` IDs in parts. `next` returns a part of the given number of missing IDs.
async function collected(n, next, between) {
  const parts = [];
  let made = 0;
  for (;;) {
    try {
      const part = await next(n - made);
      parts.push(part);
      made += part.length;
    } catch (error) {
      if (made === 0) throw error;
      // The IDs so far were issued; the next call reports the obstacle.
      break;
    }
    if (made >= n) break;
    await between?.();
  }
  return joined(parts, made);
}

function joined(parts, length) {
  if (parts.length === 1) return parts[0];
  const ids = new BigUint64Array(length);
  let end = 0;
  for (const part of parts) {
    ids.set(part, end);
    end += part.length;
  }
  return ids;
}

module.exports = { awaited, blocked, collected, joined, longestBlock, turn };
