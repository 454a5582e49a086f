'use strict';

const { FlakeIdError } = require('../index.js');
const { conditions, toColumn, toUuidColumn } = require('./shared.js');

const invalid = (message) => new FlakeIdError('FLAKEID_INVALID_OPTION', message);

const listOf = (names) => [...names].sort().join(', ');

// Returns the fields of each model, by name. Prisma passes no schema to extensions, so the schema is
// read from the client.
function schemaOf({ _runtimeDataModel: schema } = {}) {
  if (schema?.models === undefined) {
    throw invalid(
      'flakeIds: the client does not contain the schema; give the result of flakeIds to $extends of '
        + 'a PrismaClient of Prisma 7',
    );
  }
  const fieldsOf = ({ fields }) => new Map(fields.map((field) => [field.name, field]));
  return new Map(Object.entries(schema.models).map(([name, model]) => [name, fieldsOf(model)]));
}

function checkModels(models, schema) {
  for (const [model, field] of Object.entries(models)) {
    const fields = schema.get(model);
    if (fields === undefined) {
      throw invalid(
        `models.${model}: the schema has no such model; its models are ${listOf(schema.keys())}`,
      );
    }
    if (!fields.has(field)) {
      throw invalid(
        `models.${model}: the model has no field '${field}'; its fields are ${listOf(fields.keys())}`,
      );
    }
  }
}

const each = (value, call) => (Array.isArray(value) ? value.map(call) : call(value));

// Returns functions that copy the data of writes, and set the IDs of new rows, also in nested writes.
function defineWrites(generator, models, schema) {
  function created(model, row) {
    const field = Object.hasOwn(models, model) ? models[model] : undefined;
    if (field === undefined) return updated(model, row);
    // The ID of a row is smaller than the IDs of the rows nested in it.
    const id = row?.[field] ?? generator.nextId();
    // Prisma passes the values of `uuid` columns as strings.
    const isUuid = schema.get(model)?.get(field)?.type === 'String';
    return { ...updated(model, row), [field]: isUuid ? toUuidColumn(id) : BigInt(toColumn(id)) };
  }

  function updated(model, row) {
    const copy = { ...row };
    for (const [name, value] of Object.entries(copy)) {
      const field = schema.get(model)?.get(name);
      if (field?.kind === 'object' && value) copy[name] = nested(field.type, value);
    }
    return copy;
  }

  function nested(model, writes) {
    const copy = { ...writes };
    for (const [name, write] of Object.entries(WRITES)) {
      if (copy[name] !== undefined) copy[name] = write(model, copy[name]);
    }
    return copy;
  }

  function createdAll(model, rows) {
    return each(rows, (row) => created(model, row));
  }

  // An update of a single related row may consist of its data only.
  function changed(model, update) {
    const isWrapped = update.where !== undefined || !schema.get(model)?.has('data');
    if (isWrapped && update.data !== undefined) {
      return { ...update, data: updated(model, update.data) };
    }
    return updated(model, update);
  }

  function upserted(model, upsert) {
    const create = created(model, upsert.create);
    return { ...upsert, create, update: updated(model, upsert.update) };
  }

  const WRITES = {
    create: createdAll,
    createMany: (model, { data, ...rest }) => ({ ...rest, data: createdAll(model, data) }),
    connectOrCreate: (model, write) =>
      each(write, ({ create, ...rest }) => ({ ...rest, create: created(model, create) })),
    update: (model, write) => each(write, (update) => changed(model, update)),
    upsert: (model, write) => each(write, (upsert) => upserted(model, upsert)),
  };

  return { created, createdAll, updated, upserted };
}

// Returns an extension of Prisma's client. Prisma is not loaded.
function flakeIds(generator, models) {
  return (client) => {
    const schema = schemaOf(client);
    checkModels(models, schema);
    const { created, createdAll, updated, upserted } = defineWrites(generator, models, schema);

    // If all other fields are optional, `create` may be called without `data`.
    const one = async ({ model, args, query }) =>
      query({ ...args, data: created(model, args?.data) });
    const many = async ({ model, args, query }) =>
      query({ ...args, data: createdAll(model, args?.data ?? []) });
    const update = async ({ model, args, query }) =>
      query({ ...args, data: updated(model, args.data) });
    // An ID is used up even if the row already exists.
    const upsert = async ({ model, args, query }) => query(upserted(model, args));

    const $allModels = { create: one, createMany: many, createManyAndReturn: many, update, upsert };
    return client.$extends({ name: 'flakeid', query: { $allModels } });
  };
}

function createdBetween(bounds) {
  const filters = conditions(
    (gte) => ({ gte }),
    (lt) => ({ lt }),
    bounds,
  );
  return Object.assign({}, ...filters);
}

module.exports = { createdBetween, flakeIds };
