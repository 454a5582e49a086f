import type { z } from 'zod';
import type { IdTextOptions } from './json.js';

export type { IdTextOptions } from './json.js';

/**
 * An ID: in JSON a string, in the program a bigint. `z.decode` (or `parse`) reads the string and refuses
 * a number; `z.encode` writes it. `z.toJSONSchema(schema, { io: 'input' })` says `string`.
 */
export function flakeId(options?: IdTextOptions): z.ZodCodec<z.ZodString, z.ZodBigInt>;
