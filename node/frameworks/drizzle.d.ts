import type { Column, SQL } from 'drizzle-orm';
import type { customType } from 'drizzle-orm/pg-core';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * A PostgreSQL column for IDs, which is a `bigint` both in the database and in the program.
 * Example: `id: flakeId().primaryKey().$defaultFn(() => generator.nextId())`.
 */
export const flakeId: ReturnType<typeof customType<{ data: bigint; driverData: string }>>;

/**
 * Returns a condition that selects the rows created in the time range. The database can use an
 * index on the ID column.
 */
export function createdBetween(column: Column, bounds?: CreatedBetween): SQL;
