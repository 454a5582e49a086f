'use strict';

const { inUse, unclaimed, unseen } = require('./error.js');

const SYNCHRONOUS = ['nextId', 'tryNextId', 'fill', 'tryFill', 'nextIds'];

// Defines handles whose calls pass through a guard: the keeper of a lease, or the claim of a node.
function defineGuarded(Handle) {
  class Guarded extends Handle {
    #generator;
    #guard;

    constructor(generator, guard) {
      super(generator);
      this.#generator = generator;
      this.#guard = guard;
      this.isLeased = guard.isLease;
      guard.watch?.(this);
    }

    nextIdAsync() {
      return this.#guard.later(() => super.nextIdAsync());
    }

    nextIdsAsync(n) {
      return this.#guard.all(n, (count) => super.nextIdsAsync(count));
    }

    retire() {
      this.#guard.end?.();
      return super.retire();
    }

    close() {
      return this.#guard.close();
    }

    lease() {
      const lease = this.#generator;
      const [fenceUnixMs, expiresUnixMs, fencedOff] = lease.times();
      return {
        numbers: lease.numbers(),
        fenceUnixMs,
        expiresUnixMs,
        fencedOff: fencedOff === 1,
        lastError: lease.lastError(),
      };
    }

    static {
      for (const name of SYNCHRONOUS) {
        Guarded.prototype[name] = function guarded(value) {
          return this.#guard.now(() => Handle.prototype[name].call(this, value));
        };
      }
    }
  }

  return Guarded;
}

// Guards a generator until its host reports whether this instance alone may use the node. `isOurs` is the report or a
// promise of it. `begin` starts to use the node at the first call, whose clock shows the time.
class Claim {
  #answer;
  #begin;
  #failure;

  constructor(node, isOurs, begin) {
    this.#begin = begin;
    if (isOurs === true) return;
    this.#failure = () => unclaimed(node);
    this.#answer = isOurs.then((isClaimed) => {
      const refusal = isClaimed === undefined ? unseen : inUse;
      this.#failure = isClaimed ? undefined : () => refusal(node);
    });
  }

  now(call) {
    if (this.#begin === undefined) return call();
    if (this.#failure !== undefined) throw this.#failure();
    this.#begin();
    this.#begin = undefined;
    return call();
  }

  async later(call) {
    await this.#answer;
    return this.now(call);
  }

  all(n, call) {
    return this.later(() => call(n));
  }

  // Further calls reach a generator that has ended.
  end() {
    this.#begin = undefined;
  }
}

module.exports = { Claim, defineGuarded };
