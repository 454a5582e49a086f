'use strict';

const { wrongType } = require('./error.js');
const { define } = require('./members.js');

// Defines Generator.lease, Generator.auto, the property `lease`, and the function that creates namespaces.
function defineLease({ backend, checks, tableOf, textsOf, Generator, generatorOf, handleOf }) {
  const table = tableOf(() => {
    const described = backend.leaseOptions();
    // Some backends only support brokers, which choose nodes themselves.
    const ranges = described.includes('nodes_from: ') ? ['nodes'] : [];
    return [described, [...ranges, 'onEvent', 'layout', 'epoch']];
  });

  function listenerOf(onEvent) {
    if (onEvent === undefined) return undefined;
    if (typeof onEvent !== 'function') throw wrongType('onEvent', 'a function', onEvent);
    return (kind, node, start, fence, error) => {
      const event = { kind };
      if (node !== null) event.node = checks.exact(node, 'node');
      if (start !== null) event.start = start;
      if (fence !== null) event.fence = fence;
      if (error !== null) event.error = error;
      onEvent(event);
    };
  }

  async function open(url, options) {
    await backend.prepareLeases?.(url);
    const texts = textsOf(options, table);
    const { nodes, onEvent } = options;
    if (nodes !== undefined) {
      if (!Array.isArray(nodes) || nodes.length !== 2) {
        throw wrongType('nodes', 'an array of the first and the last node', nodes);
      }
      texts.settings.push('nodes_from', `${checks.whole(nodes[0], 'nodes[0]')}`);
      texts.settings.push('nodes_to', `${checks.whole(nodes[1], 'nodes[1]')}`);
    }
    return generatorOf(await backend.openLease(url, texts, listenerOf(onEvent)));
  }

  async function lease(url, options = {}) {
    return open(checks.text(url, 'url'), options);
  }

  async function auto(options = {}) {
    return open(undefined, options);
  }

  define(Generator, { lease, auto });
  define(Generator.prototype, {
    get lease() {
      const handle = handleOf(this);
      const figures = handle.isLeased ? handle.lease() : undefined;
      if (figures === undefined) return undefined;
      const { numbers, fenceUnixMs, expiresUnixMs, fencedOff, lastError } = figures;
      const [start, fence, renewals, grants, failures] = numbers;
      return Object.freeze({
        start,
        fence,
        fenceTime: new Date(fenceUnixMs),
        expires: new Date(expiresUnixMs),
        expiresInMs: expiresUnixMs - Date.now(),
        renewals: Number(renewals),
        grants: Number(grants),
        failures: Number(failures),
        fencedOff,
        lastError,
      });
    },
  });

  const ofNamespace = tableOf(() => [backend.namespaceOptions(), ['layout', 'epoch']]);

  return {
    async createNamespace(url, name, options = {}) {
      const texts = textsOf(options, ofNamespace);
      return backend.createNamespace(checks.text(url, 'url'), checks.text(name, 'name'), texts);
    },
  };
}

module.exports = { defineLease };
