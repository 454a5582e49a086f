'use strict';

const { and, gte, lt, sql } = require('drizzle-orm');
const { customType } = require('drizzle-orm/pg-core');
const { conditions, fromColumn, toColumn, toUuidColumn } = require('./shared.js');

const flakeId = customType({
  dataType: () => 'bigint',
  toDriver: toColumn,
  fromDriver: fromColumn,
});
const flakeIdUuid = customType({
  dataType: () => 'uuid',
  toDriver: toUuidColumn,
  fromDriver: fromColumn,
});

// The column converts the bigints to its own type.
function createdBetween(column, { from, before, layout } = {}) {
  const atLeast = (id) => gte(column, id);
  const below = (id) => lt(column, id);
  return and(...conditions(atLeast, below, { from, before, layout })) ?? sql`true`;
}

module.exports = { createdBetween, flakeId, flakeIdUuid };
