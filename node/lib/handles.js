'use strict';

// Defines faster handles of a generator: for a thread, for loops without `await`, and for bursts.

const { FlakeIdError, wrongType } = require('./error.js');
const { define } = require('./members.js');

const DEFAULT_SIZE = '256';
const LARGEST_SIZE = 65_536;

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

class Handle {
  #generator;

  constructor(generator) {
    this.#generator = generator;
  }

  get generator() {
    return this.#generator;
  }

  *[Symbol.iterator]() {
    for (;;) yield this.nextId();
  }
}

function defineHandles({ backend, tableOf, settingsOf, Generator, handleOf }) {
  const ofBuffer = tableOf(() => ['size: number', []]);
  const ofRing = tableOf(() => [backend.ringOptions(), ['onRejectedPut', 'onRejectedTake']]);

  class LocalGenerator extends Handle {
    #share;

    constructor(generator) {
      super(generator);
      this.#share = handleOf(generator).local();
    }

    nextId() {
      return this.#share.nextId();
    }

    tryNextId() {
      return this.#share.tryNextId();
    }
  }

  class BufferedGenerator extends Handle {
    #handle;
    #ids;
    #parts;
    // The index of the part to fill next.
    #part = 0;
    #next = 0;
    #end = 0;
    #isFilled = false;

    constructor(generator, options = {}) {
      super(generator);
      this.#handle = handleOf(generator);
      const [, text = DEFAULT_SIZE] = settingsOf(options, ofBuffer);
      const size = Number(text);
      if (size < 1 || size > LARGEST_SIZE) backend.outOfRange('size', text, BigInt(LARGEST_SIZE));
      this.#ids = new BigUint64Array(size);
      this.#parts = partsOf(this.#ids);
    }

    nextId() {
      if (this.#next === this.#end) this.#refill();
      const id = this.#ids[this.#next];
      this.#next += 1;
      return id;
    }

    // Doubles the number of IDs each time, so that at most as many are dropped as were used.
    #refill() {
      const part = this.#parts[this.#part];
      const count = this.#handle.fillSome(part);
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
  }

  function listenerOf(options, name) {
    const listener = options[name];
    if (listener === undefined || typeof listener === 'function') return listener;
    throw wrongType(name, 'a function', listener);
  }

  class CachedGenerator extends Handle {
    #ring;
    #onRejectedTake;

    constructor(generator, options = {}) {
      super(generator);
      const handle = handleOf(generator);
      const settings = settingsOf(options, ofRing);
      this.#onRejectedTake = listenerOf(options, 'onRejectedTake');
      this.#ring = handle.ring(settings, listenerOf(options, 'onRejectedPut'));
    }

    nextId() {
      try {
        return this.#ring.nextId();
      } catch (error) {
        throw this.#refused(error);
      }
    }

    take() {
      try {
        return this.#ring.tryNextId();
      } catch (error) {
        throw this.#refused(error);
      }
    }

    // Calls the listener as the core would: on the caller's thread, unless the ring was closed.
    #refused(error) {
      if (error instanceof FlakeIdError && error.code !== 'FLAKEID_CLOSED')
        this.#onRejectedTake?.(error);
      return error;
    }

    get capacity() {
      return this.#ring.capacity;
    }

    stats() {
      const [size, taken, droppedStale, ...rest] = Array.from(this.#ring.stats(), Number);
      const [rejectedPut, rejectedTake, refills] = rest;
      return { size, taken, droppedStale, rejectedPut, rejectedTake, refills };
    }

    close() {
      this.#ring.close();
    }
  }

  define(Generator.prototype, {
    local() {
      return new LocalGenerator(this);
    },
    buffered(options) {
      return new BufferedGenerator(this, options);
    },
  });
  define(CachedGenerator.prototype, {
    [Symbol.dispose]() {
      this.close();
    },
  });

  return { LocalGenerator, BufferedGenerator, CachedGenerator };
}

module.exports = { defineHandles, emptyBuffers };
