import type { z } from 'zod';
import type { IdTextOptions } from './json.js';

export type { IdTextOptions } from './json.js';

/**
 * The type of an ID: a string in JSON, a bigint in the program. `z.decode` (or `parse`) reads the
 * string and rejects numbers; `z.encode` writes the string.
 * `z.toJSONSchema(schema, { io: 'input' })` returns `string`.
 */
export function flakeId(options?: IdTextOptions): z.ZodCodec<z.ZodString, z.ZodBigInt>;
