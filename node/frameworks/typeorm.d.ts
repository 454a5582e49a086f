import type { FindOperator, ValueTransformer } from 'typeorm';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * The options of a column: `bigint` both in the database and in the program. Example:
 * `@PrimaryColumn(flakeId()) id: bigint;`, plus an entity method that is decorated with
 * `@BeforeInsert()` and runs `this.id ??= generator.nextId();`. An initializer of the property
 * would also use up an ID for each row that is read, because TypeORM constructs an entity for each
 * such row.
 */
export function flakeId(): { type: 'bigint'; transformer: ValueTransformer };

/** Returns a condition for a time range: `{ where: { id: createdBetween({ from }) } }`. */
// biome-ignore lint/suspicious/noExplicitAny: as typeorm declares its own operators.
export function createdBetween(bounds?: CreatedBetween): FindOperator<any>;
