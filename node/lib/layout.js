'use strict';

const { wrongType } = require('./error.js');

const NUMBERS = [
  ...['epoch', 'unitMs', 'maxTick', 'maxNode', 'maxSequence', 'maxClockSequence'],
  ...['idsPerTick', 'horizon', 'fitsI64Until', 'maxDatacenter', 'maxWorker'],
];

const PARTS = ['tick', 'unixMs', 'node', 'datacenter', 'worker', 'clockSequence', 'sequence'];

// Defines layouts. All their numbers are exact: 64-bit numbers and parts are bigints.
function defineLayout(backend, checks) {
  let isLayout;

  class Layout {
    #descriptor;

    constructor(descriptor) {
      const text = checks.text(descriptor, 'descriptor');
      const { descriptor: canonical, numbers, ...figures } = backend.describeLayout(text);
      this.#descriptor = canonical;
      for (const [name, value] of Object.entries(figures)) this[name] = value;
      NUMBERS.forEach((name, index) => {
        this[name] = numbers[index];
      });
      if (!figures.isSplit) {
        this.maxDatacenter = undefined;
        this.maxWorker = undefined;
      }
      Object.freeze(this);
    }

    static parse(descriptor) {
      return new Layout(descriptor);
    }

    static presets() {
      return backend.presets();
    }

    get descriptor() {
      return this.#descriptor;
    }

    withEpoch(epoch) {
      return new Layout(backend.withEpoch(this.#descriptor, checks.instant(epoch, 'epoch')));
    }

    pack(parts) {
      checks.record(parts, 'parts');
      const texts = {};
      for (const name of PARTS) {
        const value = parts[name];
        if (value !== undefined) texts[name] = `${checks.whole(value, name)}`;
      }
      return backend.pack(this.#descriptor, texts);
    }

    unpack(id) {
      const numbers = backend.unpack(this.#descriptor, checks.id(id));
      const parts = {};
      PARTS.forEach((name, index) => {
        parts[name] = numbers[index];
      });
      if (!this.isSplit) {
        parts.datacenter = undefined;
        parts.worker = undefined;
      }
      return Object.freeze(parts);
    }

    lowerBound(instant) {
      return backend.lowerBound(this.#descriptor, checks.instant(instant, 'instant'));
    }

    upperBound(instant) {
      return backend.upperBound(this.#descriptor, checks.instant(instant, 'instant'));
    }

    equals(other) {
      return isLayout(other) && other.#descriptor === this.#descriptor;
    }

    toString() {
      return this.#descriptor;
    }

    toJSON() {
      return this.#descriptor;
    }

    static {
      isLayout = (value) => typeof value === 'object' && value !== null && #descriptor in value;
    }
  }

  // Layouts given as strings are described once and kept, because a program uses few.
  const known = new Map();

  // Returns the layout of an argument: a Layout, a descriptor, a preset's name, or undefined.
  function layoutOf(layout = backend.defaultLayout()) {
    if (isLayout(layout)) return layout;
    if (typeof layout !== 'string') {
      throw wrongType('layout', "a Layout, a descriptor or a preset's name", layout);
    }
    let found = known.get(layout);
    if (found === undefined) {
      found = new Layout(layout);
      if (known.size >= 64) known.clear();
      known.set(layout, found);
    }
    return found;
  }

  return { Layout, layoutOf };
}

module.exports = { defineLayout };
