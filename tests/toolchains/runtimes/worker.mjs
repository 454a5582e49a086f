// A worker whose clock stands still while code runs. Calls that would have to wait for the clock must fail.

import wasm from 'flakeid.wasm';
import { init } from 'flakeid-wasm/init';

import { advance, readings } from './frozen-clock.mjs';

function check(condition, message) {
  if (!condition) throw new Error(message);
}

// Repeats a call until it fails, and checks each call's readings of the clock.
function untilRefused(call) {
  for (let calls = 0; calls < 10_000; calls += 1) {
    Object.assign(readings, { date: 0, performance: 0 });
    let refused;
    try {
      call();
    } catch (error) {
      refused = error;
    }
    check(Math.max(readings.date, readings.performance) <= 1000, JSON.stringify(readings));
    if (refused !== undefined) {
      check(/the clock stands still/.test(refused.message), refused.stack);
      return;
    }
  }
  throw new Error('a tick cannot contain so many IDs');
}

export default {
  async test() {
    advance();
    const { Generator } = await init(wasm);
    const generator = new Generator({ node: 7 });
    const buffer = new BigUint64Array(5000);
    for (const call of [
      () => generator.nextId(),
      () => generator.nextIds(5000),
      () => generator.fill(buffer),
    ]) {
      untilRefused(call);
      // A wait of an asynchronous call lets the clock advance.
      check((await generator.nextIdsAsync(20_000)).length === 20_000, 'IDs');
    }
    check(typeof (await generator.nextIdAsync()) === 'bigint', 'an ID');
  },
};
