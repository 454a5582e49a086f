// The table of orders.

import { pgTable, text } from 'drizzle-orm/pg-core';
import { flakeId } from 'flakeid-core/drizzle';

export const orders = pgTable('orders', {
  id: flakeId().primaryKey(),
  item: text().notNull(),
  again: flakeId().references(() => orders.id), // the order that this order repeats
});
