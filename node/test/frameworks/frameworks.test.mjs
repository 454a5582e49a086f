import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { PgDialect, pgTable, text } from 'drizzle-orm/pg-core';
import { FlakeIdError, Generator, PublicIds, decode, jsonReviver } from 'flakeid-core';
import * as drizzle from 'flakeid-core/drizzle';
import { IdText, jsonIds } from 'flakeid-core/json';
import * as kysely from 'flakeid-core/kysely';
import * as prisma from 'flakeid-core/prisma';
import * as typeorm from 'flakeid-core/typeorm';
import { flakeId } from 'flakeid-core/zod';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
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

// This test does not use Prisma itself, because its client must be generated; the guide's checks
// run examples/prisma.
test('the Prisma extension sets IDs of new rows', async () => {
  const generator = new Generator({ node: 7 });
  const { name, query } = prisma.flakeIds(generator, { Order: 'id' });
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
    assert.equal(typeof single.data[0].id, 'bigint');
  }
  const where = { id: ID };
  const upsert = await call('upsert', 'Order', { where, create: {}, update: { item: 'tea' } });
  assert.deepEqual(upsert, { where, create: { id: upsert.create.id }, update: { item: 'tea' } });
  assert.equal(typeof upsert.create.id, 'bigint');

  const wrong = (id) => call('create', 'Order', { data: { id } });
  await assert.rejects(wrong(5), { code: 'ERR_INVALID_ARG_TYPE' });
  await assert.rejects(wrong(new Date(5)), { code: 'ERR_INVALID_ARG_TYPE' });
  await assert.rejects(wrong(2n ** 63n), /does not fit a signed column of 64 bits/);
  assert.throws(() => prisma.flakeIds(generator, { Order: true }), {
    code: 'FLAKEID_INVALID_OPTION',
    message: 'models.Order must be the name of the field with the ID',
  });

  assert.deepEqual(prisma.createdBetween(DAY), { gte: BigInt(BOUNDS[0]), lt: BigInt(BOUNDS[1]) });
  assert.deepEqual(prisma.createdBetween({ before: DAY.before }), { lt: BigInt(BOUNDS[1]) });
  assert.deepEqual(prisma.createdBetween(), {});
});

// The vectors are in the checkout, but this file is copied elsewhere.
const vectors = (name) =>
  JSON.parse(readFileSync(`${process.env.FLAKEID_ROOT}/tests/vectors/${name}.json`, 'utf8'));

test('every type matches the vectors', () => {
  const { ids, rejected_ids } = vectors('layouts');
  assert.equal(ids.length > 300 && rejected_ids.length > 50, true);
  const { transformer } = typeorm.flakeId();
  const column = pgTable('orders', { id: drizzle.flakeId() }).id;
  for (const { layout, id: digits } of ids) {
    const id = BigInt(digits);
    const form = new IdText({ layout });
    assert.equal(form.write(id), digits);
    assert.equal(form.read(digits), id);
    assert.equal(flakeId({ layout }).parse(digits), id);
    assert.equal(z.encode(flakeId({ layout }), id), digits);
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

test('both versions of TypeORM filter rows by time', async () => {
  const { resolve } = createRequire(import.meta.url);
  const types = join(dirname(resolve('flakeid-core')), 'frameworks/typeorm-types.js');
  const { default: shared } = await import(types);
  for (const library of [typeorm1, typeorm03]) {
    const { createdBetween, flakeId } = shared.defineTypeorm(library);
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
  assert.equal(require('flakeid-core/json').IdText, IdText);
  assert.equal(require('flakeid-core/zod').flakeId().parse(`${ID}`), ID);
  assert.equal(require('flakeid-core/kysely').FlakeIdPlugin, kysely.FlakeIdPlugin);
  assert.equal(require('flakeid-core/prisma').flakeIds, prisma.flakeIds);
  for (const name of ['drizzle', 'typeorm']) {
    assert.equal(typeof require(`flakeid-core/${name}`).createdBetween, 'function');
  }
});
