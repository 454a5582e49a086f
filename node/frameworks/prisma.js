'use strict';

const { FlakeIdError } = require('../index.js');
const { range, toColumn } = require('./shared.js');

const OPTION = 'FLAKEID_INVALID_OPTION';

// Returns an extension of Prisma's client. It is a plain object, so Prisma is not loaded.
function flakeIds(generator, models) {
  for (const [model, field] of Object.entries(models)) {
    if (typeof field !== 'string' || field === '') {
      throw new FlakeIdError(OPTION, `models.${model} must be the name of the field with the ID`);
    }
  }

  function withId(model, row) {
    const field = Object.hasOwn(models, model) ? models[model] : undefined;
    if (field === undefined) return row;
    return { ...row, [field]: BigInt(toColumn(row?.[field] ?? generator.nextId())) };
  }

  // If all other fields are optional, `create` may be called without `data`.
  const one = async ({ model, args, query }) => query({ ...args, data: withId(model, args?.data) });
  const many = async ({ model, args, query }) =>
    query({ ...args, data: [args?.data ?? []].flat().map((row) => withId(model, row)) });
  // An ID is used up even if the row already exists.
  const upsert = async ({ model, args, query }) =>
    query({ ...args, create: withId(model, args.create) });

  const $allModels = { create: one, createMany: many, createManyAndReturn: many, upsert };
  return { name: 'flakeid', query: { $allModels } };
}

function createdBetween(bounds) {
  const { from, before } = range(bounds);
  const filter = {};
  if (from !== undefined) filter.gte = BigInt(from);
  if (before !== undefined) filter.lt = BigInt(before);
  return filter;
}

module.exports = { createdBetween, flakeIds };
