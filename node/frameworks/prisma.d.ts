import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/** An extension for Prisma's `$extends` that sets the IDs of new rows. */
// biome-ignore lint/suspicious/noExplicitAny: Prisma generates the type of the client for one schema.
export type FlakeIdExtension = (client: any) => {
  $extends: {
    extArgs: {
      result: Record<never, never>;
      model: Record<never, never>;
      query: Record<never, never>;
      client: Record<never, never>;
    };
  };
};

/**
 * Returns an extension that sets the IDs of new rows in `create`, `createMany`,
 * `createManyAndReturn`, `update` and `upsert`, unless the rows already have IDs. The extension
 * also sets the IDs of rows that nested writes create. Fields of the type `String` get the UUID of the
 * ID, for columns of the type `uuid` (`@db.Uuid`). Example:
 * `new PrismaClient({ adapter }).$extends(flakeIds(generator, { Order: 'id' }))`.
 *
 * @param generator the source of the IDs: a `Generator`, `BufferedGenerator`, `LocalGenerator` or
 * `CachedGenerator`.
 * @param models the name of the ID field of each model, by the model's name in the schema.
 * @returns a function. Prisma's `$extends` calls it with the client, whose schema it reads; it throws a
 * `FlakeIdError` with the code `FLAKEID_INVALID_OPTION` if the schema lacks a model or a field. A call
 * of the client is rejected with `FLAKEID_INVALID_ID` if a signed column cannot hold the ID, with a
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
export function createdBetween(bounds?: CreatedBetween & { uuid?: false | undefined }): {
  gte?: bigint;
  lt?: bigint;
};
export function createdBetween(bounds: CreatedBetween & { uuid: true }): {
  gte?: string;
  lt?: string;
};
