'use strict';

const DEFAULT_SIZE = 256;

// The functions that empty all buffers that contain IDs.
const filled = [];

function emptyBuffers() {
  for (const empty of filled) empty();
  filled.length = 0;
}

// Empties the buffers before the event loop continues, and before any code that the current code
// awaits. An immediate is unsuitable: if it does not keep the loop running, the loop may sleep for
// hours and then handle input first, and otherwise `beforeExit` would be emitted for ever. Fake
// clocks of tests replace timers and queueMicrotask, but not `await`.
async function emptySoon() {
  await undefined;
  emptyBuffers();
}

// Returns the first 1, 2, 4 … IDs of an array, and the whole array, as views.
function partsOf(ids) {
  const parts = [];
  for (let length = 1; length < ids.length; length *= 2) parts.push(ids.subarray(0, length));
  return [...parts, ids];
}

function defineBuffered({ backend, tableOf, settingsOf, Generator, handleOf }) {
  const table = tableOf(() => ['size: number', []]);

  class BufferedGenerator {
    #generator;
    #fillSome;
    #ids;
    #parts;
    // The index of the part to fill next.
    #part = 0;
    #next = 0;
    #end = 0;
    #isFilled = false;

    constructor(generator, options = {}) {
      this.#fillSome = handleOf(generator).fillSome;
      const [, size = `${DEFAULT_SIZE}`] = settingsOf(options, table);
      this.#ids = new BigUint64Array(backend.bufferSize(size));
      this.#parts = partsOf(this.#ids);
      this.#generator = generator;
    }

    nextId() {
      if (this.#next === this.#end) this.#refill();
      const id = this.#ids[this.#next];
      this.#next += 1;
      return id;
    }

    // Doubles the number of IDs each time, so that at most as many are dropped as were used.
    #refill() {
      const fillSome = this.#fillSome;
      const part = this.#parts[this.#part];
      const count = fillSome(part);
      this.#next = 0;
      this.#end = count;
      if (count === part.length && this.#part < this.#parts.length - 1) this.#part += 1;
      if (count === 1 || this.#isFilled) return;
      this.#isFilled = true;
      if (filled.length === 0) void emptySoon();
      filled.push(this.#empty);
    }

    #empty = () => {
      this.#next = 0;
      this.#end = 0;
      this.#part = 0;
      this.#isFilled = false;
    };

    get size() {
      return this.#ids.length;
    }

    get generator() {
      return this.#generator;
    }

    *[Symbol.iterator]() {
      for (;;) yield this.nextId();
    }
  }

  Object.defineProperty(Generator.prototype, 'buffered', {
    value: function buffered(options) {
      return new BufferedGenerator(this, options);
    },
    configurable: true,
    writable: true,
  });

  return { BufferedGenerator };
}

module.exports = { defineBuffered, emptyBuffers };
