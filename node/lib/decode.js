'use strict';

// Defines `decode`, which returns parts as plain numbers and a Date. `Layout.unpack` returns exact
// parts.
function defineDecode(checks, layoutOf) {
  function decode(id, layout) {
    const parts = layoutOf(layout).unpack(id);
    const number = (name, field) =>
      parts[name] === undefined ? undefined : checks.exact(parts[name], field);
    const unixMs = number('unixMs', 'unix_ms');
    return Object.freeze({
      timestamp: new Date(unixMs),
      unixMs,
      tick: parts.tick,
      node: number('node', 'node'),
      datacenter: number('datacenter', 'datacenter'),
      worker: number('worker', 'worker'),
      clockSequence: number('clockSequence', 'clock_sequence'),
      sequence: number('sequence', 'sequence'),
    });
  }

  return {
    decode,
    lowerBound: (instant, layout) => layoutOf(layout).lowerBound(instant),
    upperBound: (instant, layout) => layoutOf(layout).upperBound(instant),
  };
}

module.exports = { defineDecode };
