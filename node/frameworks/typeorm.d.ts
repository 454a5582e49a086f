import type { FindOperator, ValueTransformer } from 'typeorm';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * The options of a column: `bigint` in the database, and also in the program.
 * `@PrimaryColumn(flakeId()) id: bigint;`, with a method of the entity that is decorated `@BeforeInsert()` and does
 * `this.id ??= generator.nextId();`. An initializer of the property would make an ID for each row that is read,
 * too, because TypeORM constructs entities for these.
 */
export function flakeId(): { type: 'bigint'; transformer: ValueTransformer };

/** For `find`: the rows made in that time. `{ where: { id: createdBetween({ from }) } }`. */
// biome-ignore lint/suspicious/noExplicitAny: as typeorm declares its own operators.
export function createdBetween(bounds?: CreatedBetween): FindOperator<any>;
