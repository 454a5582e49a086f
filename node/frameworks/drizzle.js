'use strict';

const orm = require('drizzle-orm');
const core = require('drizzle-orm/pg-core');
const { defineDrizzle } = require('./drizzle-types.js');

module.exports = defineDrizzle(core, orm);
