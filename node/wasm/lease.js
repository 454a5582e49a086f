'use strict';

// The entry with leases, which uses a separate, larger module than index.js.

const { defineApi } = require('./lib/api.js');
const { defineLease } = require('./lib/lease.js');
const { defineLeasing } = require('./lib/leasing.js');
const glue = require('./lib/flakeid_lease.js');

module.exports = defineApi(defineLeasing(glue), (inside) => {
  defineLease(inside);
  return {};
});
