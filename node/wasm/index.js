'use strict';

// The entry for `require` in Node, which index.mjs also uses. A process has one instance of the
// module, because two instances would repeat the IDs of a node.

const { defineApi } = require('./lib/api.js');
const { defineBackend } = require('./lib/backend.js');
const glue = require('./lib/flakeid.js');

module.exports = defineApi(defineBackend(glue));
