'use strict';

// Defines the function that creates namespaces, for backends that connect to stores.
function defineNamespace({ backend, checks, tableOf, textsOf }) {
  const table = tableOf(() => [backend.namespaceOptions(), ['layout', 'epoch']]);
  return {
    async createNamespace(url, name, options = {}) {
      const texts = textsOf(options, table);
      return backend.createNamespace(checks.text(url, 'url'), checks.text(name, 'name'), texts);
    },
  };
}

module.exports = { defineNamespace };
