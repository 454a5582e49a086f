import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/** What Prisma hands to an extension for one call, of any model: its own types name the models of one schema. */
export interface PrismaCall {
  model: string;
  // biome-ignore lint/suspicious/noExplicitAny: as Prisma declares the arguments for all models.
  args: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  query: (args: any) => Promise<any>;
}

/** An extension for `$extends`, which sets the IDs of new rows. */
export interface FlakeIdExtension {
  name: 'flakeid';
  query: {
    $allModels: Record<
      'create' | 'createMany' | 'createManyAndReturn' | 'upsert',
      // biome-ignore lint/suspicious/noExplicitAny: as Prisma declares the results for all models.
      (call: PrismaCall) => Promise<any>
    >;
  };
}

/**
 * Gives new rows their IDs in `create`, `createMany`, `createManyAndReturn` and `upsert`, unless they have one.
 * Rows that are created inside of a row of another model (nested writes) get none: Prisma does not show them to
 * extensions. `new PrismaClient({ adapter }).$extends(flakeIds(generator, { Order: 'id' }))`.
 *
 * @param generator makes the IDs: a `Generator`, or its `buffered()`, `local()` or ring.
 * @param models the field with the ID of each model, by the names in the schema.
 * @throws FlakeIdError `FLAKEID_INVALID_OPTION` for a field that is no name. A call is rejected with
 * `FLAKEID_INVALID_ID` for an ID that a signed column cannot hold, with a `TypeError` for one that is no bigint,
 * and with what `nextId` throws.
 */
export function flakeIds(
  generator: { nextId(): bigint },
  models: Readonly<Record<string, string>>,
): FlakeIdExtension;

/** For `where`: the rows made in that time. `{ where: { id: createdBetween({ from }) } }`. */
export function createdBetween(bounds?: CreatedBetween): { gte?: bigint; lt?: bigint };
