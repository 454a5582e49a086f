'use strict';

const { fromColumn, range, toColumn } = require('./shared.js');

// Uses the caller's copy of drizzle-orm, because a program may load it as a CommonJS and as an ES module.
function defineDrizzle({ customType }, { and, gte, lt, sql }) {
  const flakeId = customType({
    dataType: () => 'bigint',
    toDriver: toColumn,
    fromDriver: fromColumn,
  });

  function createdBetween(column, bounds) {
    const { from, before } = range(bounds);
    return (
      and(
        from === undefined ? undefined : gte(column, BigInt(from)),
        before === undefined ? undefined : lt(column, BigInt(before)),
      ) ?? sql`true`
    );
  }

  return { createdBetween, flakeId };
}

module.exports = { defineDrizzle };
