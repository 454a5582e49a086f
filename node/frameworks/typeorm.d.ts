import type { FindOperator, ValueTransformer } from 'typeorm';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * Returns the options of an ID column, which is a `bigint` in the database. Example:
 * `@PrimaryColumn(flakeId()) id: bigint;`, plus an entity method that is decorated with
 * `@BeforeInsert()` and runs `this.id ??= generator.nextId();`. Do not generate the ID in a
 * property initializer. TypeORM constructs an entity for each row that it reads, so an initializer
 * would use up an ID for each of these rows.
 *
 * @param options `mode`: the type of the IDs that TypeORM reads, `bigint` (the default) or
 * `string`. **Entities with relations need the mode `string`**: TypeORM writes their IDs as JSON,
 * and JSON has no bigints, so saving such an entity fails with `Do not know how to serialize a
 * BigInt`. Example: `@PrimaryColumn(flakeId({ mode: 'string' })) id: string;`. In this mode, set
 * IDs as strings, too: `this.id ??= toDecimal(generator.nextId());`.
 * @throws FlakeIdError `FLAKEID_INVALID_OPTION` if the mode is invalid.
 */
export function flakeId(options?: { mode?: 'bigint' | 'string' | undefined }): {
  type: 'bigint';
  transformer: ValueTransformer;
};

/**
 * Returns the options of a column that contains IDs as UUIDs of version 8, which is a `uuid` in the
 * database. TypeORM reads the IDs as `flakeId` does. Reading a UUID that contains no ID throws a
 * `FlakeIdError`. Pass `uuid: true` to `createdBetween` for such a column.
 *
 * @param options as for `flakeId`.
 * @throws FlakeIdError `FLAKEID_INVALID_OPTION` if the mode is invalid.
 */
export function flakeIdUuid(options?: { mode?: 'bigint' | 'string' | undefined }): {
  type: 'uuid';
  transformer: ValueTransformer;
};

/**
 * Returns a condition that selects the rows created in a time range. Example:
 * `{ where: { id: createdBetween({ from }) } }`.
 */
// biome-ignore lint/suspicious/noExplicitAny: TypeORM declares its own operators in this way.
export function createdBetween(bounds?: CreatedBetween): FindOperator<any>;
