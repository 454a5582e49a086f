'use strict';

const { attempting, filling, longestBlock, runBlocking, runWaiting } = require('./waiting.js');

const PARTS = ['tick', 'unixMs', 'node', 'datacenter', 'worker', 'clockSequence', 'sequence'];

// The number of IDs that are generated at a time in the module's memory, and copied from there.
const ROOM = 8192;

// The initial length of arrays of unknown length.
const FIRST_LENGTH = 65_536;

// Removes the module's frames from stack traces, whose depth is limited, so that the caller's frames fit.
function raising(call) {
  return function raises(...values) {
    try {
      return call(...values);
    } catch (error) {
      Error.captureStackTrace?.(error, raises);
      throw error;
    }
  };
}

// Defines the backend that defineApi requires (lib/api.js), on top of the functions of a
// WebAssembly module.
function defineBackend(module) {
  const memory = module.linearMemory();
  const buffer = new module.Buffer(ROOM);
  let register;
  let run;

  // Memory that has grown has a new buffer, so the arrays over it are created again.
  function view() {
    register = new BigUint64Array(memory.buffer, module.registerAddress(), 1);
    run = new BigUint64Array(memory.buffer, buffer.address(), ROOM);
  }

  function registered() {
    if (register.length === 0) view();
    return register[0];
  }

  function copy(ids, from, count) {
    if (run.length === 0) view();
    ids.set(count === ROOM ? run : run.subarray(0, count), from);
  }

  view();

  class Handle {
    #generator;
    #longest;
    #obstacle;

    constructor(generator) {
      this.#generator = generator;
      this.#longest = longestBlock(generator.unitMs());
      this.#obstacle = {
        takeFailure: () => this.#takeFailure(),
        takeWait: module.takeWait,
        countWait: () => generator.countWait(),
      };
      this.layout = generator.layout();
    }

    get nodes() {
      return [this.#generator.node()];
    }

    nextId() {
      if (this.#generator.nextId(Date.now())) return registered();
      return runBlocking(this.#insisting(this.#longest));
    }

    tryNextId() {
      if (this.#generator.tryNextId(Date.now())) return registered();
      throw this.#takeFailure();
    }

    async nextIdAsync() {
      if (this.#generator.nextId(Date.now())) return registered();
      return runWaiting(this.#insisting(Infinity));
    }

    // The caller's first attempt has already failed.
    #insisting(longest) {
      let isFirst = true;
      return attempting(this.#obstacle, longest, (now) => {
        const isMade = !isFirst && this.#generator.nextId(now);
        isFirst = false;
        return isMade ? registered() : undefined;
      });
    }

    #takeFailure() {
      const failure = this.#generator.takeFailure();
      Error.captureStackTrace?.(failure, this.#takeFailure);
      return failure;
    }

    fill(ids) {
      return runBlocking(this.#filling(ids, this.#longest, 0));
    }

    tryFill(ids) {
      const tryPart = (into, from, wanted, now) =>
        this.#copied(into, from, this.#generator.fill(buffer, wanted, now, false));
      return runBlocking(filling(this.#obstacle, 0, ROOM, ids, 0, tryPart));
    }

    nextIds(n) {
      return runBlocking(this.#making(n, this.#longest));
    }

    nextIdsAsync(n) {
      return runWaiting(this.#making(n, Infinity));
    }

    #filling(ids, longest, from) {
      const fillPart = (into, at, wanted, now) =>
        this.#copied(into, at, this.#generator.fill(buffer, wanted, now, true));
      return filling(this.#obstacle, longest, ROOM, ids, from, fillPart);
    }

    #copied(ids, from, count) {
      if (count < 0) return undefined;
      copy(ids, from, count);
      return count;
    }

    // Memory is allocated as it is filled, not all at once, because `n` may be huge.
    *#making(n, longest) {
      let ids = new BigUint64Array(Math.min(n, FIRST_LENGTH));
      let made = 0;
      for (;;) {
        made = yield* this.#filling(ids, longest, made);
        if (made < ids.length || made === n) return ids.subarray(0, made);
        const more = new BigUint64Array(Math.min(n, 2 * ids.length));
        more.set(ids);
        ids = more;
      }
    }

    extend(fence) {
      raising(() => this.#generator.extend(fence))();
    }

    retire() {
      return raising(() => this.#generator.retire())() ?? null;
    }

    stats() {
      return this.#generator.stats();
    }
  }

  function describeLayout(descriptor) {
    const figures = new module.Figures(descriptor);
    const description = {
      descriptor: figures.descriptor(),
      presetName: figures.presetName(),
      width: figures.width(),
      isSplit: figures.isSplit(),
      fitsF64: figures.fitsF64(),
      canGenerate: figures.canGenerate(),
      idsPerSecond: figures.idsPerSecond(),
      numbers: figures.numbers(),
    };
    figures.free();
    return description;
  }

  function open({ layout, epoch, settings }, clock) {
    // The module consumes the clock that it is given.
    return new Handle(module.open([layout, epoch, ...settings], clock?.share(), Date.now()));
  }

  const defaultLayout = module.defaultLayout();

  return {
    setup: module.setup,
    version: module.version,
    presets: module.presets,
    generatorOptions: module.generatorOptions,
    defaultLayout: () => defaultLayout,
    describeLayout: raising(describeLayout),
    withEpoch: raising(module.withEpoch),
    pack: raising((descriptor, parts) =>
      module.pack(
        descriptor,
        PARTS.map((name) => parts[name]),
      ),
    ),
    unpack: raising(module.unpack),
    lowerBound: raising(module.lowerBound),
    upperBound: raising(module.upperBound),
    encodeText: raising(module.idToText),
    decodeText: raising(module.textToId),
    outOfRange: raising(module.outOfRange),
    createClock: (unixMs) => new module.ManualClock(unixMs),
    readClock: (clock) => clock.now(),
    setClock: (clock, unixMs) => clock.set(unixMs),
    advanceClock: (clock, ms) => clock.advance(ms),
    open: raising(open),
    createPublicIds: raising((...values) => new module.PublicIds(...values)),
    sealId: raising((ids, id) => ids.seal(id)),
    sealIdBits: raising((ids, id) => ids.sealBits(id)),
    openPublicId: raising((ids, text, now = BigInt(Date.now())) => ids.open(text, now)),
    Handle,
    raising,
  };
}

module.exports = { defineBackend };
