import type { Column, SQL } from 'drizzle-orm';
import type { customType } from 'drizzle-orm/pg-core';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * A column of PostgreSQL: `bigint` both in the database and in the program.
 * `id: flakeId().primaryKey().$defaultFn(() => generator.nextId())`.
 */
export const flakeId: ReturnType<typeof customType<{ data: bigint; driverData: string }>>;

/** Returns a condition for rows created in the time range. It can use an index on the IDs. */
export function createdBetween(column: Column, bounds?: CreatedBetween): SQL;
