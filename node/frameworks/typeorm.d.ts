import type { FindOperator, ValueTransformer } from 'typeorm';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * Returns the options of an ID column, which is a `bigint` both in the database and in the program.
 * Example: `@PrimaryColumn(flakeId()) id: bigint;`, plus an entity method that is decorated with
 * `@BeforeInsert()` and runs `this.id ??= generator.nextId();`. Do not generate the ID in a
 * property initializer. TypeORM constructs an entity for each row that it reads, so an initializer
 * would use up an ID for each of these rows.
 */
export function flakeId(): { type: 'bigint'; transformer: ValueTransformer };

/**
 * Returns a condition that selects the rows created in a time range. Example:
 * `{ where: { id: createdBetween({ from }) } }`.
 */
// biome-ignore lint/suspicious/noExplicitAny: TypeORM declares its own operators in this way.
export function createdBetween(bounds?: CreatedBetween): FindOperator<any>;
