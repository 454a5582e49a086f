import type { z } from 'zod';
import type { IdTextOptions } from './json.js';

export type { IdTextOptions } from './json.js';

/**
 * Returns a schema for an ID, which is a string in JSON and a bigint in the program. `z.decode` (or
 * `parse`) reads the string and rejects numbers; `z.encode` writes the string.
 * `z.toJSONSchema(schema, { io: 'input' })` describes the ID as a `string`.
 */
export function flakeId(options?: IdTextOptions): z.ZodCodec<z.ZodString, z.ZodBigInt>;
