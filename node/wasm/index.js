'use strict';

// For require in Node, and behind index.mjs for import: one instance of the module in a process,
// or a node used through both would repeat its IDs.

const { defineApi } = require('./lib/api.js');
const { defineBackend } = require('./lib/backend.js');
const glue = require('./lib/flakeid.js');

module.exports = defineApi(defineBackend(glue));
