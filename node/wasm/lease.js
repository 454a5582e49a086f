'use strict';

// As index.js, with leases: a larger module of its own.

const { defineApi } = require('./lib/api.js');
const { defineLease } = require('./lib/lease.js');
const { defineLeasing } = require('./lib/leasing.js');
const glue = require('./lib/flakeid_lease.js');

module.exports = defineApi(defineLeasing(glue), (inside) => {
  defineLease(inside);
  return {};
});
