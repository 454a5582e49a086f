'use strict';

const { FlakeIdError } = require('./error.js');

const NUMBERS = ['node', 'datacenter', 'worker', 'sequenceMask', 'sequenceStart', 'maxAheadMs', 'maxWaitMs'];
const TEXTS = ['overflow', 'rollback'];
const OTHERS = ['layout', 'epoch', 'clock', 'window'];

// Array.from goes through the iterator, which takes five times as long.
function listOf(ids) {
  const list = new Array(ids.length);
  for (let index = 0; index < ids.length; index += 1) list[index] = ids[index];
  return list;
}

function defineGenerator(backend, checks, layoutOf, clockOf) {
  function open(options) {
    checks.record(options, 'options');
    // A misspelt option that is passed over is an ID from the wrong node or layout.
    for (const name of Object.keys(options)) {
      if (!NUMBERS.includes(name) && !TEXTS.includes(name) && !OTHERS.includes(name)) {
        const known = [...NUMBERS, ...TEXTS, ...OTHERS].join(', ');
        throw new FlakeIdError('FLAKEID_INVALID_OPTION', `${name}: no such option; there are ${known}`);
      }
    }
    const texts = {};
    for (const name of NUMBERS) {
      const value = options[name];
      if (value !== undefined) texts[name] = `${checks.whole(value, name)}`;
    }
    for (const name of TEXTS) {
      const value = options[name];
      if (value !== undefined) texts[name] = checks.text(value, name);
    }
    const { layout, epoch, window, clock } = options;
    if (layout !== undefined) texts.layout = layoutOf(layout).descriptor;
    if (epoch !== undefined) texts.epoch = `${checks.instant(epoch, 'epoch')}`;
    if (window !== undefined) {
      checks.record(window, 'window');
      texts.windowStart = `${checks.whole(window.start, 'window.start')}`;
      texts.windowFence = `${checks.whole(window.fence, 'window.fence')}`;
    }
    return backend.open(texts, clock === undefined ? undefined : clockOf(clock, 'clock'));
  }

  class Generator {
    #handle;
    #layout;
    #isExact;

    constructor(options) {
      this.#handle = open(options);
      this.#layout = layoutOf(this.#handle.layout);
      this.#isExact = this.#layout.fitsF64;
    }

    nextId() {
      return this.#handle.nextId();
    }

    tryNextId() {
      return this.#handle.tryNextId();
    }

    nextNumber() {
      if (!this.#isExact) {
        throw new FlakeIdError(
          'FLAKEID_INVALID_OPTION',
          `layout: IDs of ${this.#layout} have ${this.#layout.width} bits, and a number is exact to `
            + '53; use nextId, or a layout such as js-safe',
        );
      }
      return Number(this.#handle.nextId());
    }

    nextIds(n) {
      return listOf(this.#handle.nextIds(checks.length(n, 'n')));
    }

    fill(ids) {
      return this.#handle.fill(checks.numbers(ids, 'ids'));
    }

    tryFill(ids) {
      return this.#handle.tryFill(checks.numbers(ids, 'ids'));
    }

    async nextIdAsync() {
      return this.#handle.nextIdAsync();
    }

    async nextIdsAsync(n) {
      return listOf(await this.#handle.nextIdsAsync(checks.length(n, 'n')));
    }

    extend(fence) {
      this.#handle.extend(`${checks.whole(fence, 'fence')}`);
    }

    retire() {
      return this.#handle.retire();
    }

    stats() {
      const [waits, rollbacks, largestAhead] = this.#handle.stats();
      return { waits: Number(waits), rollbacks: Number(rollbacks), largestAhead };
    }

    get layout() {
      return this.#layout;
    }

    get node() {
      return checks.exact(this.#handle.node, 'node');
    }

    *[Symbol.iterator]() {
      for (;;) yield this.#handle.nextId();
    }
  }

  // Not in every supported version of Node, nor in every browser.
  if (Symbol.dispose !== undefined) {
    Object.defineProperty(Generator.prototype, Symbol.dispose, {
      value: function dispose() {
        try {
          this.retire();
        } catch (error) {
          if (error.code !== 'FLAKEID_CLOSED') throw error;
        }
      },
      configurable: true,
      writable: true,
    });
  }

  return Generator;
}

module.exports = { defineGenerator };
