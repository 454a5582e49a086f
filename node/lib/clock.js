'use strict';

const { wrongType } = require('./error.js');

function defineManualClock(backend, checks) {
  let clockOf;

  class ManualClock {
    #clock;

    constructor(unixMs) {
      this.#clock = backend.createClock(checks.instant(unixMs, 'unixMs'));
    }

    get unixMs() {
      return backend.readClock(this.#clock);
    }

    set(unixMs) {
      backend.setClock(this.#clock, checks.instant(unixMs, 'unixMs'));
    }

    advance(ms) {
      const step = checks.whole(ms, 'ms');
      if (BigInt.asUintN(64, step) !== step) backend.outOfRange('ms', `${step}`, 2n ** 64n - 1n);
      backend.advanceClock(this.#clock, step);
    }

    static {
      // Returns the backend's object of a clock.
      clockOf = (clock, name) => {
        if (typeof clock === 'object' && clock !== null && #clock in clock) return clock.#clock;
        throw wrongType(name, "a ManualClock or a clock's name", clock);
      };
    }
  }

  return { ManualClock, clockOf };
}

module.exports = { defineManualClock };
