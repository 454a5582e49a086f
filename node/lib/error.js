'use strict';

// A process may have several copies of this class, and the add-on creates all errors with the last one.
// `instanceof` recognizes errors of all copies by this symbol.
const BRAND = Symbol.for('flakeid.FlakeIdError');

// An error of the library. Arguments of a wrong type throw built-in TypeErrors instead.
class FlakeIdError extends Error {
  static [Symbol.hasInstance](value) {
    // biome-ignore lint/complexity/noThisInStatic: in a subclass this is the subclass.
    if (this !== FlakeIdError) return super[Symbol.hasInstance](value);
    return typeof value === 'object' && value !== null && value[BRAND] === true;
  }

  constructor(code, message, details = {}) {
    super(message);
    this.code = code;
    // Missing details are not set as properties, so that logs stay short.
    for (const [name, value] of Object.entries(details)) {
      if (value !== undefined && value !== null) this[name] = value;
    }
  }
}

Object.defineProperty(FlakeIdError.prototype, 'name', {
  value: 'FlakeIdError',
  configurable: true,
  writable: true,
});

Object.defineProperty(FlakeIdError.prototype, BRAND, { value: true });

function makeError(code, message, retryAfterMs, byMs, horizon, field) {
  return new FlakeIdError(code, message, { retryAfterMs, byMs, horizon, field });
}

function show(value) {
  if (typeof value === 'string') {
    // A URL may contain a password, so only its scheme is shown.
    const safe = value.replace(/:\/\/.+/s, '://…');
    return `the string ${JSON.stringify(safe.slice(0, 64))}`;
  }
  if (typeof value === 'bigint' || typeof value === 'number') return `the ${typeof value} ${value}`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return `an object (${Object.prototype.toString.call(value).slice(8, -1)})`;
}

function wrongType(name, expected, value) {
  const error = new TypeError(`${name} must be ${expected}, not ${show(value)}`);
  error.code = 'ERR_INVALID_ARG_TYPE';
  return error;
}

function inUse(node) {
  return new FlakeIdError(
    'FLAKEID_NODE_IN_USE',
    `node: ${node} is in use by another instance of flakeid-core, in a worker or a page; give each `
      + 'instance its own node, or lease the nodes with Generator.lease',
  );
}

// Returns the error of a call before the runtime has reported whether another instance uses the node.
function unclaimed(node) {
  return new FlakeIdError(
    'FLAKEID_NODE_IN_USE',
    `node: it is not yet known whether another page or worker uses node ${node}; await the first ID `
      + 'with nextIdAsync, or set exclusive if no other instance uses the node',
    { retryAfterMs: 1 },
  );
}

function unseen(node) {
  return new FlakeIdError(
    'FLAKEID_INVALID_OPTION',
    `exclusive: missing: this runtime does not show whether another instance uses node ${node}, and `
      + 'two instances on one node repeat IDs; lease a node with Generator.lease, or set exclusive '
      + 'to true if the program ensures that no other instance uses the node at the same time',
  );
}

function standingStill({ code, retryAfterMs, byMs }, time) {
  const message =
    `the clock stands still: Date.now() returned ${time} before and after a wait; `
    + 'use nextIdAsync, or a ManualClock in tests with fake timers';
  return new FlakeIdError(code, message, { retryAfterMs, byMs });
}

function withAddOn(name) {
  return new FlakeIdError(
    'FLAKEID_INVALID_OPTION',
    `${name} needs the native add-on of flakeid-core, which Node, Bun and Deno load on Linux, macOS `
      + 'and Windows; here flakeid-core runs as WebAssembly, which leases nodes from brokers '
      + '(https://host or http://host:port)',
  );
}

module.exports = {
  FlakeIdError,
  inUse,
  makeError,
  show,
  standingStill,
  unclaimed,
  unseen,
  withAddOn,
  wrongType,
};
