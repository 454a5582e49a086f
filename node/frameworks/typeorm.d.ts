import type { FindOperator, ValueTransformer } from 'typeorm';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * The options of a column: `bigint` in the database, and also in the program.
 * `@PrimaryColumn(flakeId()) id = generator.nextId();`
 */
export function flakeId(): { type: 'bigint'; transformer: ValueTransformer };

/** For `find`: the rows made in that time. `{ where: { id: createdBetween({ from }) } }`. */
// biome-ignore lint/suspicious/noExplicitAny: as typeorm declares its own operators.
export function createdBetween(bounds?: CreatedBetween): FindOperator<any>;
