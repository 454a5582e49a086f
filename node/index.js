'use strict';

const { defineApi } = require('./lib/api.js');
const { backend, defineBuffers } = require('./lib/native.js');

const api = defineApi(backend);

module.exports = { ...api, ...defineBuffers(api) };
