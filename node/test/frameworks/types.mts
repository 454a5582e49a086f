// Tests of the types of the framework modules: this file is compiled, but never run.

import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { Generator, PublicIds } from 'flakeid-core';
import {
  flakeId as column,
  createdBetween as drizzleBetween,
  flakeIdUuid as uuidColumn,
} from 'flakeid-core/drizzle';
import { IdText, jsonIds, parseJson } from 'flakeid-core/json';
import {
  FlakeIdPlugin,
  type FlakeId as KyselyId,
  createdBetween as kyselyBetween,
} from 'flakeid-core/kysely';
import { flakeIds, createdBetween as prismaBetween } from 'flakeid-core/prisma';
import {
  createdBetween as typeormBetween,
  flakeId as typeormId,
  flakeIdUuid as typeormUuid,
} from 'flakeid-core/typeorm';
import { flakeId } from 'flakeid-core/zod';
import type { Kysely } from 'kysely';
import { z } from 'zod';

const generator = new Generator({ node: 1 });
const publicIds = new PublicIds('a 000102030405060708090a0b0c0d0e0f', 'user');

const id: bigint = new IdText({ prefix: 'usr', layout: 'twitter' }).read('usr_1');
const { replacer, reviver } = jsonIds({ id: new IdText({ publicIds }) });
JSON.parse(JSON.stringify({ id }, replacer), reviver);
// @ts-expect-error one or the other
new IdText({ publicIds, prefix: 'usr' });
// @ts-expect-error a number is no ID
new IdText().write(1);

const Order = z.object({ id: flakeId(), again: flakeId({ prefix: 'ord' }).nullable() });
const order: { id: bigint; again: bigint | null } = Order.parse({});
const sent: { id: string; again: string | null } = z.encode(Order, order);
// @ts-expect-error an ID is a bigint
z.encode(Order, { id: sent.id, again: null });

const orders = pgTable('orders', {
  id: column()
    .primaryKey()
    .$defaultFn(() => generator.nextId()),
  item: text().notNull(),
  parcel: uuidColumn(),
});
const db = drizzle('postgresql://localhost/app');
db.insert(orders).values({ item: 'tea' });
// @ts-expect-error an ID is a bigint
db.insert(orders).values({ id: 5, item: 'tea' });
const rows: { id: bigint; item: string; parcel: bigint | null }[] = await db
  .select()
  .from(orders)
  .where(drizzleBetween(orders.id, { from: new Date(), before: 0, layout: 'discord' }));
// @ts-expect-error an instant is no text
drizzleBetween(orders.id, { from: '2020-01-01' });

declare const kysely: Kysely<{ orders: { id: KyselyId; item: string } }>;
kysely.withPlugin(new FlakeIdPlugin({ columns: ['id'] }));
const found: { id: bigint }[] = await kysely
  .selectFrom('orders')
  .select('id')
  .where((eb) => kyselyBetween(eb, 'id', { from: rows.length }))
  .execute();
// @ts-expect-error no such column
kysely.selectFrom('orders').where((eb) => kyselyBetween(eb, 'ide'));
// @ts-expect-error an ID is a bigint
kysely.insertInto('orders').values({ id: '5', item: `${found}` });

const kind: 'bigint' = typeormId().type;
typeormBetween({ before: kind.length });

typeormId({ mode: 'string' });
const uuidKind: 'uuid' = typeormUuid({ mode: 'string' }).type;
typeormBetween({ before: uuidKind.length, uuid: true });
// @ts-expect-error no other types of IDs
typeormId({ mode: 'number' });
const parsed: unknown = parseJson('5');

flakeIds(generator.buffered(), { Order: 'id' })(parsed).$extends.extArgs.query;
const between: { gte?: bigint; lt?: bigint } = prismaBetween({ from: 0 });
const uuidsBetween: { gte?: string; lt?: string } = prismaBetween({ from: 0, uuid: true });
// @ts-expect-error the name of a field
flakeIds(generator, { Order: uuidsBetween });
// @ts-expect-error the name of a field
flakeIds(generator, { Order: between });
