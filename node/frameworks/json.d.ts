import type { IdInput, LayoutInput, PublicIds } from '../index.js';

export type IdTextOptions =
  | {
      /** The prefix of each string, before an underscore: 1 to 16 lowercase letters and digits. */
      prefix?: string | undefined;
      /**
       * The layout of the IDs; IDs with bits that the layout never sets are rejected. Default:
       * twitter.
       */
      layout?: LayoutInput | undefined;
      publicIds?: undefined;
    }
  | {
      prefix?: undefined;
      layout?: undefined;
      /**
       * A converter that writes and reads public IDs instead of decimal digits, with its own prefix
       * and layout.
       */
      publicIds: PublicIds;
    };

/** The string form of IDs: decimal digits with an optional prefix, or public IDs. */
export class IdText {
  /** @throws {FlakeIdError} `FLAKEID_INVALID_OPTION` for an invalid prefix. */
  constructor(options?: IdTextOptions);
  write(id: IdInput): string;
  /**
   * Parses an ID from its string form.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID` for anything else, such as a number, which a JSON parser
   * may have rounded.
   */
  read(text: unknown): bigint;
  /** An example of the string form. */
  readonly example: string;
}

/**
 * Returns arguments for `JSON.stringify` and `JSON.parse`. The values under the given keys, and the
 * elements of arrays under these keys, are IDs, which the key's `IdText` writes and reads. Numbers
 * are rejected, and null stays null. Other bigints are written as digits.
 */
export function jsonIds(texts: Readonly<Record<string, IdText>>): {
  replacer(key: string, value: unknown): unknown;
  reviver(key: string, value: unknown): unknown;
};
