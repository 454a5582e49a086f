'use strict';

const typeorm = require('typeorm');
const { defineTypeorm } = require('./typeorm-types.js');

module.exports = defineTypeorm(typeorm);
