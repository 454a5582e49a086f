import type { FindOperator, ValueTransformer } from 'typeorm';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * The options of a column: `bigint` both in the database and in the program.
 * `@PrimaryColumn(flakeId()) id: bigint;`, with a method of the entity that is decorated `@BeforeInsert()` and
 * does `this.id ??= generator.nextId();`. An initializer of the property would also use up an ID for each row
 * that is read, because TypeORM constructs entities for these.
 */
export function flakeId(): { type: 'bigint'; transformer: ValueTransformer };

/** Returns a condition for a time range: `{ where: { id: createdBetween({ from }) } }`. */
// biome-ignore lint/suspicious/noExplicitAny: as typeorm declares its own operators.
export function createdBetween(bounds?: CreatedBetween): FindOperator<any>;
