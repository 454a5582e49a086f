import type { Column, SQL } from 'drizzle-orm';
import type { customType } from 'drizzle-orm/pg-core';
import type { CreatedBetween as Bounds } from './bounds.js';

/** A time range. Both ends are rounded down to whole ticks. */
export type CreatedBetween = Omit<Bounds, 'uuid'>;

/**
 * A PostgreSQL column for IDs, which is a `bigint` both in the database and in the program.
 * Example: `id: flakeId().primaryKey().$defaultFn(() => generator.nextId())`.
 */
export const flakeId: ReturnType<typeof customType<{ data: bigint; driverData: string }>>;

/**
 * A PostgreSQL column for IDs as UUIDs of version 8, which is a `uuid` in the database and a `bigint`
 * in the program. Reading a UUID that contains no ID throws a `FlakeIdError`.
 */
export const flakeIdUuid: typeof flakeId;

/**
 * Returns a condition that selects the rows created in the time range. The database can use an
 * index on the ID column.
 */
export function createdBetween(column: Column, bounds?: CreatedBetween): SQL;
