'use strict';

const { FlakeIdError, wrongType } = require('./error.js');
const { define } = require('./members.js');

// An opened handle, which the constructor accepts instead of options. Users cannot create one.
class Opened {
  constructor(handle) {
    this.handle = handle;
  }
}

// Copies IDs into an array. Array.from uses the iterator, which takes five times as long.
function listOf(ids) {
  const list = new Array(ids.length);
  for (let index = 0; index < ids.length; index += 1) list[index] = ids[index];
  return list;
}

function defineGenerator(backend, checks, { tableOf, textsOf }, layoutOf, clockOf) {
  const others = ['clock', 'window', 'layout', 'epoch', 'exclusive'];
  const table = tableOf(() => [backend.generatorOptions(), others]);
  let handleOf;

  function open(options) {
    const texts = textsOf(options, table);
    const { window, clock, exclusive = false } = options;
    if (typeof exclusive !== 'boolean') throw wrongType('exclusive', 'a boolean', exclusive);
    // The program has made sure that no other instance uses the node, or these ticks of it.
    texts.isAlone = exclusive || window !== undefined;
    if (window !== undefined) {
      checks.record(window, 'window');
      texts.settings.push('window_start', `${checks.whole(window.start, 'window.start')}`);
      texts.settings.push('window_fence', `${checks.whole(window.fence, 'window.fence')}`);
    }
    if (typeof clock === 'string') texts.settings.push('clock', clock);
    else if (clock !== undefined) return backend.open(texts, clockOf(clock, 'clock'));
    return backend.open(texts);
  }

  class Generator {
    #handle;
    #layout;
    #isExact;

    // Without options, the core explains which ones are required.
    constructor(options = {}) {
      this.#handle = options instanceof Opened ? options.handle : open(options);
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
          `layout: IDs of ${this.#layout} have ${this.#layout.width} bits, and a JavaScript number is exact `
            + 'only up to 53; use nextId, or a layout such as js-safe',
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
      return checks.exact(this.#handle.nodes[0], 'node');
    }

    get nodes() {
      return Array.from(this.#handle.nodes, (node) => checks.exact(node, 'nodes'));
    }

    async close() {
      if (this.#handle.isLeased) {
        await this.#handle.close();
        return;
      }
      try {
        this.retire();
      } catch (error) {
        if (error.code !== 'FLAKEID_CLOSED') throw error;
      }
    }

    *[Symbol.iterator]() {
      for (;;) yield this.#handle.nextId();
    }

    static {
      handleOf = (generator) => {
        if (typeof generator === 'object' && generator !== null && #handle in generator) {
          return generator.#handle;
        }
        throw wrongType('generator', 'a Generator', generator);
      };
    }
  }

  define(Generator.prototype, {
    [Symbol.asyncDispose]() {
      return this.close();
    },
    // `close` does everything at once except the release of a node, which continues in the
    // background.
    [Symbol.dispose]() {
      this.close();
    },
  });

  return { Generator, generatorOf: (handle) => new Generator(new Opened(handle)), handleOf };
}

module.exports = { defineGenerator };
