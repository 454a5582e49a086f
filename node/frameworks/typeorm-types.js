'use strict';

const { FlakeIdError } = require('../index.js');
const { show } = require('../lib/error.js');
const { fromColumn, range, toColumn } = require('./shared.js');

// Uses the caller's copy of typeorm, because a program may load it as a CommonJS and as an ES module.
function defineTypeorm({ And, FindOperator, LessThan, MoreThanOrEqual, Not, IsNull }) {
  const unlessNone = (call) => (value) =>
    value === null || value === undefined ? value : call(value);

  // TypeORM 0.3 also passes each condition inside an `And` to the transformer. Its value is already a bigint.
  const to = (value) => (value instanceof FindOperator ? value : toColumn(value));

  // TypeORM writes IDs as JSON to compare entities, and JSON has no bigints, so entities with relations
  // need IDs as strings.
  function flakeId({ mode = 'bigint' } = {}) {
    if (mode !== 'bigint' && mode !== 'string') {
      throw new FlakeIdError(
        'FLAKEID_INVALID_OPTION',
        `mode: ${show(mode)} must be 'bigint' or 'string'`,
      );
    }
    const from = mode === 'string' ? (value) => `${fromColumn(value)}` : fromColumn;
    return {
      type: 'bigint',
      transformer: { to: unlessNone(to), from: unlessNone(from) },
    };
  }

  function createdBetween(bounds) {
    const { from, before } = range(bounds);
    const conditions = [Not(IsNull())];
    if (from !== undefined) conditions.push(MoreThanOrEqual(BigInt(from)));
    if (before !== undefined) conditions.push(LessThan(BigInt(before)));
    return And(...conditions);
  }

  return { createdBetween, flakeId };
}

module.exports = { defineTypeorm };
