import type { IdInput, LayoutInput, PublicIds } from '../index.js';

export type IdTextOptions =
  | {
      /**
       * The prefix that precedes the underscore in each string: 1 to 16 lowercase letters and
       * digits, beginning with a letter.
       */
      prefix?: string | undefined;
      /**
       * The layout of the IDs. IDs with bits that the layout never sets are rejected. Default:
       * `twitter`.
       */
      layout?: LayoutInput | undefined;
      publicIds?: undefined;
    }
  | {
      prefix?: undefined;
      layout?: undefined;
      /**
       * A converter that writes and reads public IDs instead of decimal digits. The converter has
       * its own prefix and layout.
       */
      publicIds: PublicIds;
    };

/** The string form of IDs: decimal digits with an optional prefix, or public IDs. */
export class IdText {
  /** @throws {FlakeIdError} `FLAKEID_INVALID_OPTION` if the prefix is invalid. */
  constructor(options?: IdTextOptions);
  write(id: IdInput): string;
  /**
   * Parses an ID from its string form.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID` for any other value, such as a number, because a
   * JSON parser may have rounded the number.
   */
  read(text: unknown): bigint;
  /** An example of the string form, in single quotes. */
  readonly example: string;
}

/**
 * Returns a replacer for `JSON.stringify` and a reviver for `JSON.parse`. The values under the
 * given keys, and the elements of arrays under these keys, are IDs. The `IdText` of a key writes
 * and reads the IDs under that key. The reviver rejects numbers under these keys, and leaves null
 * unchanged. The replacer writes all other bigints as decimal digits.
 */
export function jsonIds(texts: Readonly<Record<string, IdText>>): {
  replacer(key: string, value: unknown): unknown;
  reviver(key: string, value: unknown): unknown;
};

/**
 * Parses JSON like `JSON.parse`, but returns integers that a `number` cannot hold exactly as
 * bigints. Databases write 64-bit columns as such integers when a query aggregates rows as JSON.
 * For example, relational queries of Drizzle read these rows exactly after
 * `pg.types.setTypeParser(pg.types.builtins.JSON, parseJson)`.
 * @throws {SyntaxError} if the text is not JSON.
 */
export function parseJson(text: string): unknown;
