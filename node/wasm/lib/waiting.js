'use strict';

// Repeats calls after a wait in JavaScript, because WebAssembly cannot sleep. The calls are
// generator functions that yield the milliseconds to wait: one driver blocks the thread, and the
// other lets the event loop continue.

const LONGEST_BLOCK = 10;
const LONGEST_SPIN = 1;
const LONGEST_TURN = 10;

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
  while (Date.now() < until && performance.now() < last);
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
  for (;;) {
    const result = attempt(Date.now());
    if (result !== undefined) return result;
    const failure = obstacle.takeFailure();
    const wait = obstacle.takeWait();
    if (wait === undefined) throw failure;
    const [until, atMost] = wait;
    const now = performance.now();
    if (began === undefined) {
      began = now;
      obstacle.countWait();
    }
    const left = Math.min(longest, atMost) - (now - began);
    if (left <= 0) throw failure;
    yield Math.max(0, Math.min(until - Date.now(), left));
  }
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
