'use strict';

const { defineApi } = require('./lib/api.js');
const { defineLease } = require('./lib/lease.js');
const { backend, defineBuffers } = require('./lib/native.js');

const api = defineApi(backend, defineLease);

module.exports = { ...api, ...defineBuffers(api) };
