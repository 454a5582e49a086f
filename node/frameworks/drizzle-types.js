'use strict';

const { fromColumn, range, toColumn, toUuidColumn } = require('./shared.js');

// Uses the caller's copy of drizzle-orm, because a program may load it as a CommonJS and as an ES module.
function defineDrizzle({ customType }, { and, gte, lt, sql }) {
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
  function createdBetween(column, { from: start, before: end, layout } = {}) {
    const { from, before } = range({ from: start, before: end, layout });
    return (
      and(
        from === undefined ? undefined : gte(column, from),
        before === undefined ? undefined : lt(column, before),
      ) ?? sql`true`
    );
  }

  return { createdBetween, flakeId, flakeIdUuid };
}

module.exports = { defineDrizzle };
