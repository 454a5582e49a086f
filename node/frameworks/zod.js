'use strict';

const { z } = require('zod');
const { defineZod } = require('./zod-types.js');

module.exports = defineZod(z);
