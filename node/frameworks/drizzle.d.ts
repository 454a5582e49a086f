import type { Column, SQL } from 'drizzle-orm';
import type { customType } from 'drizzle-orm/pg-core';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * A column of PostgreSQL: `bigint` in the database, and also in the program.
 * `id: flakeId().primaryKey().$defaultFn(() => generator.nextId())`.
 */
export const flakeId: ReturnType<typeof customType<{ data: bigint; driverData: string }>>;

/** A condition: the rows made in that time. An index on the IDs answers. */
export function createdBetween(column: Column, bounds?: CreatedBetween): SQL;
