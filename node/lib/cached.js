'use strict';

const { FlakeIdError, wrongType } = require('./error.js');

function defineCached({ backend, tableOf, settingsOf, handleOf }) {
  const table = tableOf(() => [backend.ringOptions(), ['onRejectedPut', 'onRejectedTake']]);

  function listenerOf(options, name) {
    const listener = options[name];
    if (listener === undefined || typeof listener === 'function') return listener;
    throw wrongType(name, 'a function', listener);
  }

  class CachedGenerator {
    #generator;
    #ring;
    #onRejectedTake;

    constructor(generator, options = {}) {
      const handle = handleOf(generator);
      const settings = settingsOf(options, table);
      this.#onRejectedTake = listenerOf(options, 'onRejectedTake');
      this.#ring = handle.ring(settings, listenerOf(options, 'onRejectedPut'));
      this.#generator = generator;
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
      const [size, taken, droppedStale, rejectedPut, rejectedTake, refills] = Array.from(
        this.#ring.stats(),
        Number,
      );
      return { size, taken, droppedStale, rejectedPut, rejectedTake, refills };
    }

    get generator() {
      return this.#generator;
    }

    close() {
      this.#ring.close();
    }

    *[Symbol.iterator]() {
      for (;;) yield this.nextId();
    }
  }

  // Some supported versions of Node do not have the symbol.
  if (Symbol.dispose !== undefined) {
    Object.defineProperty(CachedGenerator.prototype, Symbol.dispose, {
      value: function dispose() {
        this.close();
      },
      configurable: true,
      writable: true,
    });
  }

  return { CachedGenerator };
}

module.exports = { defineCached };
