import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { relations } from 'drizzle-orm';
import { drizzle as connect } from 'drizzle-orm/node-postgres';
import { PgDialect, pgTable, text } from 'drizzle-orm/pg-core';
import {
  FlakeIdError,
  Generator,
  PublicIds,
  decode,
  fromUuid,
  jsonReviver,
  toDecimal,
  toUuid,
} from 'flakeid-core';
import * as drizzle from 'flakeid-core/drizzle';
import { IdText, jsonIds, parseJson } from 'flakeid-core/json';
import * as kysely from 'flakeid-core/kysely';
import * as prisma from 'flakeid-core/prisma';
import * as typeorm from 'flakeid-core/typeorm';
import { flakeId } from 'flakeid-core/zod';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import pg from 'pg';
import * as typeorm1 from 'typeorm';
import * as typeorm03 from 'typeorm-0.3';
import { z } from 'zod';

const ID = 910499571847892992n;
const KEYRING = 'a 000102030405060708090a0b0c0d0e0f';
const publicIds = new PublicIds(KEYRING, 'order', { prefix: 'ord' });
const DAY = { from: new Date('2017-09-20'), before: new Date('2017-09-21') };
const BOUNDS = ['910292419998646272', '910654807864246272'];
const invalid = { name: 'FlakeIdError', code: 'FLAKEID_INVALID_ID' };

const client = new pg.Client(process.env.DATABASE_URL);
const drop = () =>
  client.query('DROP TABLE IF EXISTS drizzle_orders, kysely_orders, typeorm_orders');
before(async () => {
  await client.connect();
  await drop();
});
after(async () => {
  await drop();
  await client.end();
});

test('IdText reads and writes strings', () => {
  const forms = [
    [new IdText(), `${ID}`],
    [new IdText({ layout: 'discord' }), `${ID}`],
    [new IdText({ prefix: 'ord' }), `ord_${ID}`],
    [new IdText({ publicIds }), publicIds.seal(ID)],
  ];
  for (const [form, written] of forms) {
    assert.equal(form.write(ID), written);
    assert.equal(form.read(written), ID);
    assert.equal(form.example.length > written.length, true);
    for (const wrong of [
      Number(ID),
      5,
      ID,
      null,
      undefined,
      true,
      '',
      'x',
      `${written}${written}`,
    ]) {
      assert.throws(() => form.read(wrong), invalid, String(wrong));
    }
    assert.throws(
      () => form.read(5),
      /must be a string here, such as '.*', not the number 5: .* 53/,
    );
  }
  assert.throws(() => new IdText().read(`${2n ** 63n}`), /bits set outside that layout/);
  assert.equal(new IdText({ layout: 'discord' }).read(`${2n ** 63n}`), 2n ** 63n);
  assert.throws(
    () => new IdText({ prefix: 'ord' }).read('5'),
    /must begin with 'ord_', as 'ord_4611/,
  );
  assert.throws(() => new IdText({ prefix: 'A b' }), { code: 'FLAKEID_INVALID_OPTION' });
  assert.throws(() => new IdText({ prefix: 'a', publicIds }), { code: 'FLAKEID_INVALID_OPTION' });
  assert.throws(() => new IdText({ layout: 'tweeter' }), { code: 'FLAKEID_INVALID_LAYOUT' });
});

test('JSON reads and writes IDs by the names of keys', () => {
  const { replacer, reviver } = jsonIds({
    id: new IdText({ prefix: 'ord' }),
    others: new IdText({ publicIds }),
  });
  const row = { id: ID, others: [ID, null], count: 7, name: '5' };
  const written = JSON.stringify(row, replacer);
  assert.equal(
    written,
    `{"id":"ord_${ID}","others":["${publicIds.seal(ID)}",null],"count":7,"name":"5"}`,
  );
  assert.deepEqual(JSON.parse(written, reviver), row);
  assert.equal(JSON.stringify({ other: ID }, replacer), `{"other":"${ID}"}`);
  assert.throws(() => JSON.parse(`{"id":${ID}}`, reviver), invalid);
  assert.throws(() => JSON.parse('{"others":["5"]}', reviver), invalid);
  assert.throws(() => JSON.parse(`{"id":${ID}}`, jsonReviver('id')), {
    code: 'ERR_INVALID_ARG_TYPE',
  });
});

test('parseJson keeps the digits of large integers', () => {
  const text = `{"id":${ID},"digits":"${ID}","\\"${ID}":[-9223372036854775808 , 9007199254740992],
    "small":5,"exact":9007199254740991,"fraction":1.2345678901234567,"escaped":"\\\\\\"${ID}"}`;
  assert.deepEqual(parseJson(text), {
    id: ID,
    digits: `${ID}`,
    [`"${ID}`]: [-(2n ** 63n), 2n ** 53n],
    small: 5,
    exact: 2 ** 53 - 1,
    fraction: 1.234_567_890_123_456_7,
    escaped: `\\"${ID}`,
  });
  for (const short of ['5', ' 5 ', 'null', '"5"', '[]']) {
    assert.deepEqual(parseJson(short), JSON.parse(short));
  }
  for (const wrong of ['', '{', `[${ID}`, `{${ID} :5}`, `0${ID}`, `- ${ID}`, `${ID}n`]) {
    assert.throws(() => parseJson(wrong), SyntaxError, wrong);
  }
});

test('zod reads strings and rejects numbers', () => {
  const Order = z.object({ id: flakeId(), again: flakeId({ publicIds }).nullable() });
  const sent = { id: `${ID}`, again: publicIds.seal(ID) };
  const order = Order.parse(sent);
  assert.deepEqual(order, { id: ID, again: ID });
  assert.deepEqual(z.encode(Order, order), sent);
  const refused = Order.safeParse({ id: Number(ID), again: 'ord_x' });
  assert.deepEqual(
    refused.error.issues.map(({ path }) => path),
    [['id'], ['again']],
  );
  assert.match(refused.error.issues[0].message, /must be a string here, .* numbers of JSON lose/);
  assert.match(refused.error.issues[1].message, /not a public ID of this domain/);
  const { properties } = z.toJSONSchema(Order, { io: 'input' });
  assert.deepEqual(properties.id, {
    type: 'string',
    description: "a 64-bit ID, such as '4611686018423193600'",
  });
  assert.throws(() => z.encode(flakeId(), 2n ** 64n), FlakeIdError);
});

test('columns reject invalid IDs', () => {
  const { transformer } = typeorm.flakeId();
  const column = pgTable('orders', { id: drizzle.flakeId() }).id;
  const to = [(id) => transformer.to(id), (id) => column.mapToDriverValue(id)];
  const from = [(value) => transformer.from(value), (value) => column.mapFromDriverValue(value)];
  for (const call of to) {
    assert.equal(call(2n ** 63n - 1n), `${2n ** 63n - 1n}`);
    assert.throws(() => call(2n ** 63n), /does not fit a signed column of 64 bits/);
    assert.throws(() => call(-1n), invalid);
    assert.throws(() => call(5), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  for (const call of from) {
    assert.equal(call(`${ID}`), ID);
    assert.equal(call(ID), ID);
    assert.equal(call(5), 5n);
    assert.throws(() => call(Number(ID)), /let it return columns of 64 bits as strings or bigints/);
    assert.throws(() => call('-1'), invalid);
  }
  assert.equal(transformer.to(null), null);
  assert.equal(transformer.from(undefined), undefined);
  assert.throws(() => drizzle.createdBetween(column, { from: '2020' }), {
    code: 'ERR_INVALID_ARG_TYPE',
  });
  const late = { from: new Date('2100-01-01'), layout: 'discord' };
  assert.throws(() => drizzle.createdBetween(column, late), /does not fit/);
});

test('time ranges filter rows by creation time', () => {
  const orders = pgTable('orders', { id: drizzle.flakeId(), item: text() });
  const query = (bounds) => {
    const written = new PgDialect().sqlToQuery(drizzle.createdBetween(orders.id, bounds));
    return [written.sql, written.params];
  };
  const id = '"orders"."id"';
  assert.deepEqual(query(DAY), [`(${id} >= $1 and ${id} < $2)`, BOUNDS]);
  assert.deepEqual(query({ before: DAY.before }), [`${id} < $1`, [BOUNDS[1]]]);
  assert.deepEqual(query(), ['true', []]);
  assert.deepEqual(query({ from: 0, before: 0 })[1], ['0', '0']);
  for (const wrong of [null, '', '2020-01-01']) {
    assert.throws(() => query({ from: wrong }), { code: 'ERR_INVALID_ARG_TYPE' });
  }

  const db = new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const compiled = (bounds) => {
    const all = db.selectFrom('orders').selectAll();
    return all.where((eb) => kysely.createdBetween(eb, 'id', bounds)).compile();
  };
  assert.match(compiled(DAY).sql, /where \("id" >= \$1 and "id" < \$2\)$/);
  assert.deepEqual(compiled(DAY).parameters.map(String), BOUNDS);
  assert.deepEqual(compiled({ from: DAY.from }).parameters.map(String), [BOUNDS[0]]);
  assert.match(compiled().sql, /where 1 = 1$/);

  const [none, first, last] = typeorm.createdBetween(DAY).value;
  assert.equal(none.type, 'not');
  assert.deepEqual([first.value, last.value].map(String), BOUNDS);
});

// This test does not use Prisma itself, because its client must be generated; `cargo xtask
// toolchains` tests nested writes with Prisma's client.
test('the Prisma extension sets IDs of new rows', async () => {
  const generator = new Generator({ node: 7 });
  const client = {
    _runtimeDataModel: { models: { Order: { fields: [{ name: 'id', kind: 'scalar' }] } } },
    $extends: (extension) => extension,
  };
  const { name, query } = prisma.flakeIds(generator, { Order: 'id' })(client);
  assert.equal(name, 'flakeid');
  const call = (operation, model, args) =>
    query.$allModels[operation]({ model, args, query: async (given) => given });

  const made = await call('create', 'Order', { data: { item: 'tea' }, select: { id: true } });
  assert.equal(decode(made.data.id).node, 7);
  assert.deepEqual(made, { data: { id: made.data.id, item: 'tea' }, select: { id: true } });
  const own = { data: { id: ID, item: 'tea' } };
  assert.deepEqual(await call('create', 'Order', own), own);
  const digits = { data: { id: `${ID}`, item: 'tea' } };
  assert.deepEqual(await call('create', 'Order', digits), own);
  for (const model of ['Item', 'constructor']) {
    assert.deepEqual(await call('create', model, { data: {} }), { data: {} });
  }
  for (const args of [undefined, {}]) {
    assert.equal(typeof (await call('create', 'Order', args)).data.id, 'bigint');
    assert.deepEqual((await call('createMany', 'Order', args)).data, []);
  }
  for (const operation of ['createMany', 'createManyAndReturn']) {
    const rows = [{ item: 'tea' }, { id: ID, item: 'coffee' }, { item: 'milk' }];
    const { data, skipDuplicates } = await call(operation, 'Order', {
      data: rows,
      skipDuplicates: true,
    });
    assert.equal(skipDuplicates, true);
    assert.deepEqual(data, [
      { ...rows[0], id: data[0].id },
      rows[1],
      { ...rows[2], id: data[2].id },
    ]);
    assert.equal(data[0].id < data[2].id, true);
    assert.equal(rows[0].id, undefined);
    const single = await call(operation, 'Order', { data: { item: 'tea' } });
    assert.equal(typeof single.data.id, 'bigint');
  }
  const where = { id: ID };
  const upsert = await call('upsert', 'Order', { where, create: {}, update: { item: 'tea' } });
  assert.deepEqual(upsert, { where, create: { id: upsert.create.id }, update: { item: 'tea' } });
  assert.equal(typeof upsert.create.id, 'bigint');

  const wrong = (id) => call('create', 'Order', { data: { id } });
  await assert.rejects(wrong(5), { code: 'ERR_INVALID_ARG_TYPE' });
  await assert.rejects(wrong(new Date(5)), { code: 'ERR_INVALID_ARG_TYPE' });
  await assert.rejects(wrong(2n ** 63n), /does not fit a signed column of 64 bits/);
  const extend = (models, extended) => () => prisma.flakeIds(generator, models)(extended);
  const code = 'FLAKEID_INVALID_OPTION';
  assert.throws(extend({ Order: true }, client), {
    code,
    message: "models.Order: the model has no field 'true'; its fields are id",
  });
  assert.throws(extend({ Ordr: 'id' }, client), {
    code,
    message: 'models.Ordr: the schema has no such model; its models are Order',
  });
  assert.throws(extend({ Order: 'id' }, {}), { code, message: /does not contain the schema/ });

  assert.deepEqual(prisma.createdBetween(DAY), { gte: BigInt(BOUNDS[0]), lt: BigInt(BOUNDS[1]) });
  assert.deepEqual(prisma.createdBetween({ before: DAY.before }), { lt: BigInt(BOUNDS[1]) });
  assert.deepEqual(prisma.createdBetween(), {});

  const fields = [{ name: 'id', kind: 'scalar', type: 'String' }];
  const uuids = { ...client, _runtimeDataModel: { models: { Parcel: { fields } } } };
  const { create } = prisma.flakeIds(generator, { Parcel: 'id' })(uuids).query.$allModels;
  const uuidOf = async (data) => {
    const write = { model: 'Parcel', args: { data }, query: async (given) => given };
    return (await create(write)).data.id;
  };
  assert.equal(decode(fromUuid(await uuidOf({}))).node, 7);
  assert.equal(await uuidOf({ id: ID }), toUuid(ID));
  assert.equal(await uuidOf({ id: toUuid(ID).toUpperCase() }), toUuid(ID));
  await assert.rejects(uuidOf({ id: '6ba7b810-9dad-41d1-80b4-00c04fd430c8' }), invalid);
  assert.deepEqual(prisma.createdBetween({ ...DAY, uuid: true }), {
    gte: toUuid(BigInt(BOUNDS[0])),
    lt: toUuid(BigInt(BOUNDS[1])),
  });
});

// The vectors are in the checkout, but this file is copied elsewhere.
const vectors = (name) =>
  JSON.parse(readFileSync(`${process.env.FLAKEID_ROOT}/tests/vectors/${name}.json`, 'utf8'));

test('every type matches the vectors', () => {
  const { ids, rejected_ids } = vectors('layouts');
  assert.equal(ids.length > 300 && rejected_ids.length > 50, true);
  const { transformer } = typeorm.flakeId();
  const column = pgTable('orders', { id: drizzle.flakeId() }).id;
  const uuidColumn = pgTable('parcels', { id: drizzle.flakeIdUuid() }).id;
  for (const { layout, id: digits } of ids) {
    const id = BigInt(digits);
    const form = new IdText({ layout });
    assert.equal(form.write(id), digits);
    assert.equal(form.read(digits), id);
    assert.equal(flakeId({ layout }).parse(digits), id);
    assert.equal(z.encode(flakeId({ layout }), id), digits);
    assert.equal(uuidColumn.mapToDriverValue(id), toUuid(id));
    assert.equal(uuidColumn.mapFromDriverValue(toUuid(id)), id);
    if (id < 2n ** 63n) {
      assert.equal(transformer.from(transformer.to(id)), id);
      assert.equal(column.mapFromDriverValue(column.mapToDriverValue(id)), id);
    } else {
      assert.throws(() => transformer.to(id), /does not fit a signed column/);
      assert.throws(() => column.mapToDriverValue(id), /does not fit a signed column/);
    }
  }
  for (const { layout, id } of rejected_ids) {
    assert.throws(() => new IdText({ layout }).read(id), invalid, `${layout} ${id}`);
    assert.equal(flakeId({ layout }).safeParse(id).success, false);
  }
});

// Returns both versions of TypeORM with the functions that use them.
async function bothTypeorms() {
  const { resolve } = createRequire(import.meta.url);
  const folder = join(dirname(resolve('flakeid-core')), 'frameworks');
  const module = readFileSync(join(folder, 'typeorm.mjs'), 'utf8');
  writeFileSync(join(folder, 'typeorm-0.3.mjs'), module.replace("'typeorm'", "'typeorm-0.3'"));
  const of03 = await import(join(folder, 'typeorm-0.3.mjs'));
  return [
    { library: typeorm1, ...typeorm },
    { library: typeorm03, ...of03 },
  ];
}

test('both versions of TypeORM filter rows by time', async () => {
  for (const { library, createdBetween, flakeId } of await bothTypeorms()) {
    const Order = new library.EntitySchema({
      name: 'typeorm_times',
      columns: { id: { ...flakeId(), primary: true }, again: { ...flakeId(), nullable: true } },
    });
    const url = process.env.DATABASE_URL;
    const source = new library.DataSource({
      type: 'postgres',
      url,
      entities: [Order],
      synchronize: true,
      dropSchema: false,
    });
    await source.initialize();
    const orders = source.getRepository(Order);
    const [earlier, later] = [BigInt(BOUNDS[0]) - 1n, BigInt(BOUNDS[1])];
    for (const id of [earlier, ID, later]) await orders.save({ id, again: id });
    const found = async (where) =>
      (await orders.find({ where, order: { id: 'ASC' } })).map((row) => row.id);
    assert.deepEqual(await found({ id: createdBetween(DAY) }), [ID]);
    assert.deepEqual(await found({ id: createdBetween({ from: DAY.from }) }), [ID, later]);
    assert.deepEqual(await found({ again: createdBetween({ before: DAY.before }) }), [earlier, ID]);
    assert.deepEqual(await found({ id: createdBetween() }), [earlier, ID, later]);
    assert.deepEqual(await found({ id: ID }), [ID]);
    assert.deepEqual(await found({ id: library.In([ID, later]) }), [ID, later]);
    await source.query('DROP TABLE typeorm_times');
    await source.destroy();
  }
});

test('TypeORM saves entities with relations if their IDs are strings', async () => {
  const generator = new Generator({ node: 7 });
  const next = () => toDecimal(generator.nextId());
  for (const { library, createdBetween, flakeId } of await bothTypeorms()) {
    const columns = {
      id: { ...flakeId({ mode: 'string' }), primary: true },
      name: { type: 'text' },
    };
    const relation = { cascade: true, joinTable: true, joinColumn: true };
    const orders = {
      ...relation,
      type: 'one-to-many',
      target: 'ts_orders',
      inverseSide: 'customer',
    };
    const tags = { ...relation, type: 'many-to-many', target: 'ts_tags' };
    const customer = { type: 'many-to-one', target: 'ts_customers', joinColumn: true };
    const { EntitySchema, DataSource } = library;
    const source = new DataSource({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [
        new EntitySchema({ name: 'ts_customers', columns, relations: { orders, tags } }),
        new EntitySchema({ name: 'ts_orders', columns, relations: { customer } }),
        new EntitySchema({ name: 'ts_tags', columns }),
      ],
      synchronize: true,
    });
    await source.initialize();
    const customers = source.getRepository('ts_customers');
    const begun = new Date(Date.now() - 1000);
    const id = next();
    await customers.save({
      id,
      name: 'Ann',
      orders: [{ id: next(), name: 'tea' }],
      tags: [{ id: next(), name: 'new' }],
    });
    const load = async () => {
      const where = { id: library.And(library.Equal(id), createdBetween({ from: begun })) };
      return customers.findOne({ where, relations: { orders: true, tags: true } });
    };
    const loaded = await load();
    assert.deepEqual([loaded.id, loaded.orders[0].name, loaded.tags[0].name], [id, 'tea', 'new']);
    assert.equal(typeof loaded.orders[0].id, 'string');
    loaded.orders[0].name = 'coffee';
    loaded.orders.push({ id: next(), name: 'milk' });
    loaded.tags = [];
    await customers.save(loaded);
    const changed = await load();
    assert.deepEqual(changed.orders.map(({ name }) => name).sort(), ['coffee', 'milk']);
    assert.deepEqual(changed.tags, []);
    const orderTable = source.getRepository('ts_orders');
    const [order] = await orderTable.find({ where: { customer: { id } }, loadRelationIds: true });
    assert.equal(order.customer, id);
    await orderTable.save({ ...order, name: 'water', customer: changed });
    await source.query('DROP TABLE ts_customers, ts_orders, ts_tags, ts_customers_tags_ts_tags');
    await source.destroy();
  }
  assert.equal(typeorm.flakeId().transformer.from('5'), 5n);
  assert.throws(() => typeorm.flakeId({ mode: 'number' }), {
    code: 'FLAKEID_INVALID_OPTION',
    message: `mode: the string "number" must be 'bigint' or 'string'`,
  });
});

const FOREIGN = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
const [EARLIER, LATER] = [BigInt(BOUNDS[0]) - 1n, BigInt(BOUNDS[1])];

test('both versions of TypeORM store IDs in uuid columns', async () => {
  for (const { library, createdBetween, flakeIdUuid } of await bothTypeorms()) {
    const other = { ...flakeIdUuid({ mode: 'string' }), nullable: true };
    const Parcel = new library.EntitySchema({
      name: 'typeorm_parcels',
      columns: { id: { ...flakeIdUuid(), primary: true }, other },
    });
    const source = new library.DataSource({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [Parcel],
      synchronize: true,
    });
    await source.initialize();
    const parcels = source.getRepository(Parcel);
    for (const id of [LATER, ID, EARLIER]) await parcels.save({ id, other: `${id}` });
    const found = async (where) =>
      (await parcels.find({ where, order: { id: 'ASC' } })).map((row) => row.id);
    assert.deepEqual(await found({ id: createdBetween({ ...DAY, uuid: true }) }), [ID]);
    const day = createdBetween({ before: DAY.before, uuid: true });
    assert.deepEqual(await found({ other: day }), [EARLIER, ID]);
    assert.deepEqual(await found({ id: createdBetween() }), [EARLIER, ID, LATER]);
    assert.deepEqual(await found({ id: library.In([ID, LATER]) }), [ID, LATER]);
    const [row] = await parcels.find({ where: { id: ID } });
    assert.deepEqual(row, { id: ID, other: `${ID}` });
    await parcels.save({ ...row, other: null });
    assert.deepEqual(await found({ other: library.IsNull() }), [ID]);
    const [raw] = await source.query('SELECT id FROM typeorm_parcels WHERE other IS NULL');
    assert.equal(raw.id, toUuid(ID));
    await source.query(`UPDATE typeorm_parcels SET other = '${FOREIGN}' WHERE other IS NULL`);
    await assert.rejects(found({ id: ID }), invalid);
    await source.query('DROP TABLE typeorm_parcels');
    await source.destroy();
  }
});

test('Drizzle and Kysely store IDs in uuid columns', async () => {
  const parcels = pgTable('drizzle_parcels', {
    id: drizzle.flakeIdUuid().primaryKey(),
    whole: drizzle.flakeIdUuid(),
  });
  const ofParcels = relations(parcels, ({ one }) => ({
    owner: one(parcels, { fields: [parcels.whole], references: [parcels.id] }),
  }));
  const db = connect(process.env.DATABASE_URL, { schema: { parcels, ofParcels } });
  await db.execute('CREATE TABLE drizzle_parcels (id uuid PRIMARY KEY, whole uuid)');
  await db.insert(parcels).values([{ id: LATER, whole: ID }, { id: ID }, { id: EARLIER }]);
  const select = async (bounds) => {
    const condition = drizzle.createdBetween(parcels.id, bounds);
    const rows = await db.select().from(parcels).where(condition).orderBy(parcels.id);
    return rows.map((row) => row.id);
  };
  assert.deepEqual(await select(DAY), [ID]);
  assert.deepEqual(await select({ from: DAY.from }), [ID, LATER]);
  assert.deepEqual(await select(), [EARLIER, ID, LATER]);
  // The JSON of relational queries contains UUIDs, which need no parseJson.
  const [owned] = await db.query.parcels.findMany({
    where: drizzle.createdBetween(parcels.id, { from: DAY.before }),
    with: { owner: true },
  });
  assert.deepEqual(owned, { id: LATER, whole: ID, owner: { id: ID, whole: null } });

  const dialect = new PostgresDialect({
    pool: new pg.Pool({ connectionString: process.env.DATABASE_URL }),
  });
  const plugins = [new kysely.FlakeIdPlugin({ columns: ['id', 'whole'] })];
  const builder = new Kysely({ dialect, plugins });
  const rows = await builder
    .selectFrom('drizzle_parcels')
    .selectAll()
    .where((eb) => kysely.createdBetween(eb, 'id', { from: DAY.from, uuid: true }))
    .orderBy('id')
    .execute();
  assert.deepEqual(rows, [
    { id: ID, whole: null },
    { id: LATER, whole: ID },
  ]);
  await builder.destroy();

  await db.execute(`UPDATE drizzle_parcels SET whole = '${FOREIGN}'`);
  await assert.rejects(select(DAY), invalid);
  await db.execute('DROP TABLE drizzle_parcels');
  await db.$client.end();
});

test('relational queries of Drizzle keep IDs if parseJson parses JSON', async () => {
  const customers = pgTable('drizzle_customers', {
    id: drizzle.flakeId().primaryKey(),
    name: text(),
  });
  const orders = pgTable('drizzle_items', { id: drizzle.flakeId(), customer: drizzle.flakeId() });
  const schema = {
    customers,
    orders,
    ofCustomers: relations(customers, ({ many }) => ({ orders: many(orders) })),
    ofOrders: relations(orders, ({ one }) => ({
      owner: one(customers, { fields: [orders.customer], references: [customers.id] }),
    })),
  };
  const db = connect(process.env.DATABASE_URL, { schema });
  await db.execute('CREATE TABLE drizzle_customers (id bigint PRIMARY KEY, name text)');
  await db.execute('CREATE TABLE drizzle_items (id bigint PRIMARY KEY, customer bigint)');
  await db.insert(customers).values({ id: ID, name: 'Ann' });
  await db.insert(orders).values([
    { id: ID + 1n, customer: ID },
    { id: 5n, customer: ID },
  ]);
  const query = () => db.query.customers.findMany({ with: { orders: { with: { owner: true } } } });
  await assert.rejects(query, (error) => /give the driver parseJson/.test(error.message));
  const { JSON: json } = pg.types.builtins;
  const usual = pg.types.getTypeParser(json);
  pg.types.setTypeParser(json, parseJson);
  try {
    const owner = { id: ID, name: 'Ann' };
    assert.deepEqual(await query(), [
      {
        ...owner,
        orders: [
          { id: ID + 1n, customer: ID, owner },
          { id: 5n, customer: ID, owner },
        ],
      },
    ]);
  } finally {
    pg.types.setTypeParser(json, usual);
    await db.execute('DROP TABLE drizzle_customers, drizzle_items');
    await db.$client.end();
  }
});

test('the programs of the guide run without errors', () => {
  writeFileSync('examples/public.keys', `${KEYRING}\n`);
  const run = (program) => {
    const ran = spawnSync(process.execPath, [program], { cwd: 'examples', encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stderr, /string/, 'the number is refused');
    const [first, second, ...more] = JSON.parse(ran.stdout);
    assert.deepEqual(more, []);
    assert.deepEqual(first, { id: first.id, item: 'tea', again: null });
    assert.deepEqual(second, { id: second.id, item: 'tea', again: first.id });
    return second.id;
  };
  const ids = [
    new IdText().read(run('drizzle.mjs')),
    new IdText({ prefix: 'ord' }).read(run('kysely.mjs')),
    new IdText({ publicIds }).read(run('typeorm.mjs')),
  ];
  for (const id of ids) assert.equal(decode(id).node, 7);
});

test('require loads the same framework modules', () => {
  const require = createRequire(import.meta.url);
  const { IdText: Required } = require('flakeid-core/json');
  assert.equal(
    new Required({ prefix: 'order' }).read(new IdText({ prefix: 'order' }).write(ID)),
    ID,
  );
  assert.equal(require('flakeid-core/zod').flakeId().parse(`${ID}`), ID);
  for (const name of ['drizzle', 'kysely', 'prisma', 'typeorm']) {
    assert.equal(typeof require(`flakeid-core/${name}`).createdBetween, 'function');
  }
});
