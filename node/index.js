'use strict';

const { portable } = require('./lib/addon.js');
const { defineApi } = require('./lib/api.js');
const { backend } = require('./lib/native.js');

module.exports = portable ?? defineApi(backend);
