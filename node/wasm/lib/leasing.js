'use strict';

const { defineBackend } = require('./backend.js');
const { Keeper } = require('./keeper.js');

// Defines the backend with leases that defineApi requires (lib/api.js), on top of the module with
// leases.
function defineLeasing(module) {
  const { Handle, raising, ...backend } = defineBackend(module);
  // A generator that is no longer reachable releases its node.
  const abandoned = new FinalizationRegistry((keeper) => keeper.close());

  class LeasedHandle extends Handle {
    #lease;
    #keeper;

    constructor(lease, keeper) {
      super(lease);
      this.#lease = lease;
      this.#keeper = keeper;
      this.isLeased = true;
      abandoned.register(this, keeper);
    }

    // Requests a renewal, but does not wait for it, because a renewal needs the event loop.
    #asking(call) {
      try {
        return call();
      } catch (error) {
        if (this.#lease.lacksWindow()) this.#keeper.ask();
        throw error;
      }
    }

    nextId() {
      return this.#asking(() => super.nextId());
    }

    tryNextId() {
      return this.#asking(() => super.tryNextId());
    }

    fill(ids) {
      return this.#asking(() => super.fill(ids));
    }

    tryFill(ids) {
      return this.#asking(() => super.tryFill(ids));
    }

    nextIds(n) {
      return this.#asking(() => super.nextIds(n));
    }

    nextIdAsync() {
      return this.#keeper.insist(() => super.nextIdAsync());
    }

    async nextIdsAsync(n) {
      let ids = await this.#keeper.insist(() => super.nextIdsAsync(n));
      while (ids.length < n) {
        const missing = n - ids.length;
        let more;
        try {
          more = await this.#keeper.insist(() => super.nextIdsAsync(missing));
        } catch {
          // The available IDs were issued; the next call reports the obstacle.
          break;
        }
        const longer = new BigUint64Array(ids.length + more.length);
        longer.set(ids);
        longer.set(more, ids.length);
        ids = longer;
      }
      return ids;
    }

    close() {
      return this.#keeper.close();
    }

    lease() {
      const [fenceUnixMs, expiresUnixMs, fencedOff] = this.#lease.times();
      return {
        numbers: this.#lease.numbers(),
        fenceUnixMs,
        expiresUnixMs,
        fencedOff: fencedOff === 1,
        lastError: this.#lease.lastError(),
      };
    }
  }

  const openText = raising((url, texts) =>
    module.Lease.open(url, texts, Date.now(), performance.now()),
  );

  async function openLease(url, { layout, epoch, settings }, listener) {
    const lease = openText(url, [layout, epoch, ...settings]);
    const keeper = new Keeper(lease, listener);
    try {
      await keeper.opened();
    } catch (error) {
      await keeper.close();
      throw error;
    }
    return new LeasedHandle(lease, keeper);
  }

  return { ...backend, leaseOptions: module.leaseOptions, openLease };
}

module.exports = { defineLeasing };
