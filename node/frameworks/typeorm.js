'use strict';

const { And, FindOperator, IsNull, LessThan, MoreThanOrEqual, Not } = require('typeorm');
const { FlakeIdError } = require('../index.js');
const { show } = require('../lib/error.js');
const { conditions, fromColumn, toColumn, toUuidColumn } = require('./shared.js');

const unlessNone = (call) => (value) =>
  value === null || value === undefined ? value : call(value);

// TypeORM 0.3 also passes each condition inside an `And` to the transformer. `createdBetween` has already
// converted the value of the condition.
const unlessCondition = (call) => (value) => (value instanceof FindOperator ? value : call(value));

// TypeORM writes IDs as JSON to compare entities, and JSON has no bigints, so entities with relations
// need IDs as strings.
function column(type, toDriver, { mode = 'bigint' } = {}) {
  if (mode !== 'bigint' && mode !== 'string') {
    throw new FlakeIdError(
      'FLAKEID_INVALID_OPTION',
      `mode: ${show(mode)} must be 'bigint' or 'string'`,
    );
  }
  const from = mode === 'string' ? (value) => `${fromColumn(value)}` : fromColumn;
  return {
    type,
    transformer: { to: unlessNone(unlessCondition(toDriver)), from: unlessNone(from) },
  };
}

const flakeId = (options) => column('bigint', toColumn, options);
const flakeIdUuid = (options) => column('uuid', toUuidColumn, options);

function createdBetween(bounds) {
  return And(Not(IsNull()), ...conditions(MoreThanOrEqual, LessThan, bounds));
}

module.exports = { createdBetween, flakeId, flakeIdUuid };
