'use strict';

const { addon } = require('./addon.js');
const { emptyBuffers } = require('./handles.js');
const { awaited, collected, turn } = require('./waiting.js');

// The add-on writes single IDs into the first number; the second number selects the generator. The
// array must stay private, because a transfer would free its memory, which the add-on writes to. It
// is stored with the add-on, because several copies of this file may use the add-on: a test runner
// evaluates modules again for each test file, and each copy would read IDs from its own array.
const MAILBOX = Symbol.for('flakeid.mailbox');
if (addon[MAILBOX] === undefined) {
  Object.defineProperty(addon, MAILBOX, { value: new BigUint64Array(new ArrayBuffer(16)) });
}
const mailbox = addon[MAILBOX];
const slot = new Uint32Array(mailbox.buffer, 8, 1);

let nextId;
let tryNextId;

function setup(makeError) {
  addon.setup(makeError, mailbox);
  [nextId, tryNextId] = addon.bindDispatch();
}

// A source of single IDs: a generator, a local handle or a ring.
class Single {
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: it keeps the number from being given to another one.
  #slot;
  #number;

  constructor(slotHandle) {
    this.#slot = slotHandle;
    this.#number = addon.slotNumber(slotHandle);
  }

  nextId() {
    slot[0] = this.#number;
    nextId();
    return mailbox[0];
  }

  tryNextId() {
    slot[0] = this.#number;
    tryNextId();
    return mailbox[0];
  }
}

class NativeRing extends Single {
  #ring;

  constructor(ring) {
    super(addon.slotOfRing(ring));
    this.#ring = ring;
    this.capacity = addon.ringCapacity(ring);
  }

  stats() {
    return addon.ringStats(this.#ring);
  }

  close() {
    addon.closeRing(this.#ring);
  }
}

// The number of IDs that asynchronous calls return before they let the event loop continue. Otherwise,
// a loop of such calls would block the event loop, because an `await` alone only runs other microtasks.
const MOST_IN_A_TURN = 1000;
let inThisTurn = 0;
let nextTurn;

async function takeTurn() {
  nextTurn ??= turn();
  await nextTurn;
  inThisTurn = 0;
  nextTurn = undefined;
}

class NativeHandle extends Single {
  #owned;
  #fill;
  #tryFill;
  #closing;

  constructor(owned, isLeased) {
    super(addon.slotOf(owned));
    this.#owned = owned;
    this.isLeased = isLeased;
    this.fillSome = addon.bindFillSome(owned);
    this.#fill = addon.bindFill(owned);
    this.#tryFill = addon.bindTryFill(owned);
  }

  get layout() {
    return addon.layoutOf(this.#owned);
  }

  get nodes() {
    return addon.nodesOf(this.#owned);
  }

  fill(ids) {
    return isShared(ids) ? fillShared(this.#fill, ids) : this.#fill(ids);
  }

  tryFill(ids) {
    return isShared(ids) ? fillShared(this.#tryFill, ids) : this.#tryFill(ids);
  }

  nextIds(n) {
    return addon.nextIds(this.#owned, n);
  }

  async nextIdAsync() {
    inThisTurn += 1;
    if (inThisTurn > MOST_IN_A_TURN) await takeTurn();
    return awaited((waited) => addon.pollNextId(this.#owned, waited));
  }

  nextIdsAsync(n) {
    const next = (missing) => awaited((waited) => addon.pollNextIds(this.#owned, missing, waited));
    return collected(n, next, takeTurn);
  }

  local() {
    return new Single(addon.slotOfLocal(this.#owned));
  }

  ring(settings, onRejectedPut) {
    return new NativeRing(addon.openRing(this.#owned, settings, onRejectedPut));
  }

  extend(fence) {
    addon.extend(this.#owned, fence);
  }

  retire() {
    emptyBuffers();
    return addon.retire(this.#owned);
  }

  stats() {
    return addon.stats(this.#owned);
  }

  lease() {
    return addon.leaseOf(this.#owned) ?? undefined;
  }

  // Further calls wait for the first call to finish.
  close() {
    emptyBuffers();
    this.#closing ??= addon.closeLease(this.#owned);
    return this.#closing;
  }
}

function isShared(ids) {
  return ids.buffer instanceof SharedArrayBuffer;
}

// Fills a copy, because the add-on must not write to shared memory, which other threads may use.
function fillShared(fill, ids) {
  const own = new BigUint64Array(ids.length);
  const count = fill(own);
  ids.set(own.subarray(0, count));
  return count;
}

let endsWithProcess = false;

async function openLease(url, options, listener) {
  const owned = await addon.openLease(url, options, listener);
  if (!endsWithProcess) {
    // process.exit ends the main thread without notifying the add-on.
    process.once('exit', closeLeases);
    endsWithProcess = true;
  }
  return new NativeHandle(owned, true);
}

function closeLeases() {
  emptyBuffers();
  addon.closeLeases();
}

const backend = {
  ...addon,
  setup,
  open: (options, clock) => new NativeHandle(addon.open(options, clock), false),
  openLease,
};

module.exports = { backend };
