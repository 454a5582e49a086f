import type { IdInput, LayoutInput, PublicIds } from '../index.js';

export type IdTextOptions =
  | {
      /** The beginning of each string, before an underscore: 1 to 16 lower-case letters and digits. */
      prefix?: string | undefined;
      /** The layout of the IDs; IDs with bits that it never sets are rejected. Default: twitter. */
      layout?: LayoutInput | undefined;
      publicIds?: undefined;
    }
  | {
      prefix?: undefined;
      layout?: undefined;
      /** Writes and reads public IDs instead, with its own prefix and layout. */
      publicIds: PublicIds;
    };

/** The string form of IDs: decimal digits with an optional prefix, or public IDs. */
export class IdText {
  /** @throws {FlakeIdError} `FLAKEID_INVALID_OPTION` for an invalid prefix. */
  constructor(options?: IdTextOptions);
  write(id: IdInput): string;
  /**
   * Returns the ID of a string.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID` for anything else, such as a number, which a JSON parser
   * may have rounded.
   */
  read(text: unknown): bigint;
  /** An example of the string form. */
  readonly example: string;
}

/**
 * Returns arguments for `JSON.stringify` and `JSON.parse`: the values under these keys, and arrays of
 * them, are IDs, which the key's `IdText` writes and reads. Numbers are rejected; null stays null. Other
 * bigints are written as digits.
 */
export function jsonIds(texts: Readonly<Record<string, IdText>>): {
  replacer(key: string, value: unknown): unknown;
  reviver(key: string, value: unknown): unknown;
};
