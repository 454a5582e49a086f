import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/**
 * The argument that Prisma passes to a query extension for each call on any model. Prisma's own
 * types cannot be used here, because Prisma generates these types for one specific schema.
 */
export interface PrismaCall {
  model: string;
  // biome-ignore lint/suspicious/noExplicitAny: Prisma declares these arguments in this way.
  args: any;
  // biome-ignore lint/suspicious/noExplicitAny: Prisma declares these arguments in this way.
  query: (args: any) => Promise<any>;
}

/** An extension for Prisma's `$extends` that sets the IDs of new rows. */
export interface FlakeIdExtension {
  name: 'flakeid';
  query: {
    $allModels: Record<
      'create' | 'createMany' | 'createManyAndReturn' | 'upsert',
      // biome-ignore lint/suspicious/noExplicitAny: Prisma declares these results in this way.
      (call: PrismaCall) => Promise<any>
    >;
  };
}

/**
 * Returns an extension that sets the IDs of new rows in `create`, `createMany`,
 * `createManyAndReturn` and `upsert`, unless the rows already have IDs. The extension cannot set
 * the IDs of nested writes, because Prisma does not pass nested writes to extensions. Example:
 * `new PrismaClient({ adapter }).$extends(flakeIds(generator, { Order: 'id' }))`.
 *
 * @param generator the source of the IDs: a `Generator`, `BufferedGenerator`, `LocalGenerator` or
 * `CachedGenerator`.
 * @param models the name of the ID field of each model, by the model's name in the schema.
 * @throws FlakeIdError `FLAKEID_INVALID_OPTION` if the name of a field is empty or not a string. A
 * call is rejected with `FLAKEID_INVALID_ID` if a signed column cannot hold the ID, with a
 * `TypeError` if the ID is not a bigint, and with the errors that `nextId` throws.
 */
export function flakeIds(
  generator: { nextId(): bigint },
  models: Readonly<Record<string, string>>,
): FlakeIdExtension;

/**
 * Returns a condition that selects the rows created in a time range. Example:
 * `{ where: { id: createdBetween({ from }) } }`.
 */
export function createdBetween(bounds?: CreatedBetween): { gte?: bigint; lt?: bigint };
