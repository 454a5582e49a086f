'use strict';

const { defineApi } = require('./lib/api.js');
const { defineBuffered } = require('./lib/buffered.js');
const { defineCached } = require('./lib/cached.js');
const { defineLease } = require('./lib/lease.js');
const { defineLocal } = require('./lib/local.js');
const { defineNamespace } = require('./lib/namespace.js');
const { backend, defineBuffers } = require('./lib/native.js');

const api = defineApi(backend, (inside) => {
  defineLease(inside);
  return {
    ...defineLocal(inside),
    ...defineBuffered(inside),
    ...defineCached(inside),
    ...defineNamespace(inside),
  };
});

module.exports = { ...api, ...defineBuffers(api) };
