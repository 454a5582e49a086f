'use strict';

// The backend on top of WebAssembly modules, for runtimes without the add-on. A small module contains the core, and a
// larger one the leases from brokers, which is loaded by the first lease.
//
// Each instance of a module has its own memory, so two instances that use one node would repeat IDs. A generator on a
// fixed node therefore needs the claim of its host:
//
//   loadLeases(): Promise<Module>             loads the module with leases
//   isInRequests: boolean                     whether timers and responses end with the request that began them
//   claim?(name: string): boolean | undefined | Promise<boolean | undefined>
//                                             whether this instance alone may use a name from now on, until it ends;
//                                             undefined if the other instances cannot be seen

const { emptyBuffers } = require('./handles.js');
const { inUse, standingStill, unseen, withAddOn } = require('./error.js');
const { Claim, defineGuarded } = require('./guarded.js');
const { Keeper } = require('./keeper.js');
const { awaited, blocked, collected, joined, longestBlock, turn } = require('./waiting.js');

const PARTS = ['tick', 'unixMs', 'node', 'datacenter', 'worker', 'clockSequence', 'sequence'];

const FIGURES = [
  ...['descriptor', 'presetName', 'width', 'isSplit', 'fitsF64', 'canGenerate', 'idsPerSecond'],
  'numbers',
];

// The number of IDs that are generated at a time in the module's memory, and copied from there.
const ROOM = 8192;

// The length of the parts of long arrays, which are allocated as they are filled, because `n` may be huge.
const PART = 65_536;

const SHORTEST_WAIT = 0.001;
const LONGEST_TURN = 10;

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

// Defines the handles of a module's generators and leases.
function defineHandle(module) {
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

    constructor(generator) {
      this.#generator = generator;
      this.#longest = longestBlock(generator.unitMs());
      this.layout = generator.layout();
    }

    // Replaces a generator that has the same options.
    replace(generator) {
      this.#generator = generator;
    }

    get nodes() {
      return [this.#generator.node()];
    }

    nextId() {
      if (this.#generator.nextId(Date.now())) return registered();
      return blocked(this.#repeating(this.#longest, this.#next));
    }

    tryNextId() {
      if (this.#generator.tryNextId(Date.now())) return registered();
      throw this.#takeFailure();
    }

    async nextIdAsync() {
      if (this.#generator.nextId(Date.now())) return registered();
      return awaited(this.#repeating(Infinity, this.#next));
    }

    #next = (now) => (this.#generator.nextId(now) ? registered() : undefined);

    // Returns the function `poll` of a call that repeats an attempt for at most `longest`. If the caller has
    // already made the first attempt, its failure is taken.
    #poll(longest, attempt) {
      let first;
      return (waited) => {
        const time = Date.now();
        first ??= time;
        const result = attempt(time);
        if (result !== undefined) return result;
        const failure = this.#takeFailure();
        const wait = module.takeWait();
        if (wait === undefined) throw failure;
        if (waited === 0) this.#generator.countWait();
        const [until, atMost] = wait;
        const left = Math.min(longest, atMost) - waited;
        if (left <= 0) throw waited > 0 && time === first ? standingStill(failure, time) : failure;
        return Math.max(SHORTEST_WAIT, Math.min(until - Date.now(), left));
      };
    }

    // Like `poll`, after a first attempt of the caller that has failed.
    #repeating(longest, attempt) {
      let isFirst = true;
      return this.#poll(longest, (now) => {
        if (!isFirst) return attempt(now);
        isFirst = false;
        return undefined;
      });
    }

    #takeFailure() {
      const failure = this.#generator.takeFailure();
      Error.captureStackTrace?.(failure, this.#takeFailure);
      return failure;
    }

    // Fills the beginning of an array, and returns that part.
    #part(ids, now, waits) {
      const count = this.#generator.fill(buffer, Math.min(ids.length, ROOM), now, waits);
      if (count < 0) return undefined;
      copy(ids, 0, count);
      return ids.subarray(0, count);
    }

    #fill(ids, longest, waits) {
      let filled = 0;
      while (filled < ids.length) {
        const rest = ids.subarray(filled);
        let count;
        try {
          count = blocked(this.#poll(longest, (now) => this.#part(rest, now, waits))).length;
        } catch (failure) {
          if (filled === 0) throw failure;
          break;
        }
        filled += count;
        // If the core does not allow another wait, the obstacle has lasted longer than max_wait.
        if (count < Math.min(rest.length, ROOM) && module.takeWait() === undefined) break;
      }
      return filled;
    }

    fill(ids) {
      return this.#fill(ids, this.#longest, true);
    }

    tryFill(ids) {
      return this.#fill(ids, 0, false);
    }

    nextIds(n) {
      const parts = [];
      let made = 0;
      while (made < n) {
        const ids = new BigUint64Array(Math.min(n - made, PART));
        let count;
        try {
          count = this.#fill(ids, this.#longest, true);
        } catch (failure) {
          if (made === 0) throw failure;
          break;
        }
        parts.push(ids.subarray(0, count));
        made += count;
        if (count < ids.length) break;
      }
      return joined(parts, made);
    }

    nextIdsAsync(n) {
      let begun = performance.now();
      const next = (missing) => {
        const ids = new BigUint64Array(Math.min(missing, ROOM));
        return awaited(this.#poll(Infinity, (now) => this.#part(ids, now, true)));
      };
      return collected(n, next, async () => {
        if (performance.now() - begun < LONGEST_TURN) return;
        await turn();
        begun = performance.now();
      });
    }

    extend(fence) {
      raising(() => this.#generator.extend(fence))();
    }

    retire() {
      emptyBuffers();
      return raising(() => this.#generator.retire())() ?? null;
    }

    stats() {
      return this.#generator.stats();
    }

    // Fills an array, but waits only for the first ID.
    fillSome(ids) {
      try {
        return this.tryFill(ids);
      } catch {
        return this.fill(ids.subarray(0, 1));
      }
    }

    // An instance has one thread, which needs no share of the positions.
    local() {
      return this;
    }
  }

  return Handle;
}

// Defines the backend that defineApi requires (lib/api.js).
function defineBackend(module, host) {
  const Handle = defineHandle(module);
  const Claimed = defineGuarded(Handle);
  let makeError;
  let leases;

  function setup(make) {
    makeError = make;
    module.setup(make);
  }

  function describeLayout(descriptor) {
    const figures = new module.Figures(descriptor);
    const description = {};
    for (const name of FIGURES) description[name] = figures[name]();
    figures.free();
    return description;
  }

  // The module consumes the clock that it is given.
  function open({ layout, epoch, settings, isAlone }, clock) {
    const options = [layout, epoch, ...settings];
    const now = Date.now();
    const begin = (own) => module.open(options, own, Date.now());
    // The clock of some runtimes stands at 0 until the first request.
    if (clock !== undefined || (isAlone && now > 0)) return new Handle(begin(clock?.share()));
    // A generator on a clock of its own checks the options, and does not begin to use the node, because another
    // instance may issue IDs until the node is claimed.
    const probe = begin(new module.ManualClock(BigInt(now)));
    const claimed = (isOurs) => {
      const claim = new Claim(node, isOurs, () => handle.replace(begin()));
      const handle = new Claimed(probe, claim);
      return handle;
    };
    const node = probe.node();
    if (isAlone) return claimed(true);
    const [, space] = probe.layout().split('@');
    const isOurs = host.claim?.(`flakeid node ${node} of ${space}`);
    if (isOurs === true) return new Handle(begin());
    if (isOurs === false) throw inUse(node);
    if (isOurs === undefined) throw unseen(node);
    return claimed(isOurs);
  }

  async function loadLeases() {
    const loaded = await host.loadLeases();
    loaded.setup(makeError);
    return { ...loaded, Leased: defineGuarded(defineHandle(loaded)) };
  }

  async function prepareLeases(url) {
    if (!/^https?:\/\//i.test(url)) throw withAddOn('a lease from a store');
    leases ??= await loadLeases();
  }

  async function openLease(url, { layout, epoch, settings }, listener) {
    const texts = [layout, epoch, ...settings];
    const lease = raising(leases.Lease.open)(url, texts, Date.now(), performance.now());
    const keeper = new Keeper(lease, listener, host.isInRequests);
    try {
      await keeper.opened();
    } catch (error) {
      await keeper.close();
      throw error;
    }
    return new leases.Leased(lease, keeper);
  }

  const onlyWithAddOn = (name) => () => {
    throw withAddOn(name);
  };
  const defaultLayout = module.defaultLayout();

  return {
    setup,
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
    prepareLeases,
    leaseOptions: () => leases.leaseOptions(),
    openLease,
    namespaceOptions: onlyWithAddOn('createNamespace'),
    ringOptions: onlyWithAddOn('CachedGenerator'),
  };
}

module.exports = { defineBackend };
