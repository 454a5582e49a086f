import type { IdInput, LayoutInput, PublicIds } from '../index.js';

export type IdTextOptions =
  | {
      /** What the text begins with, before an underscore: 1 to 16 lower-case letters and digits. */
      prefix?: string | undefined;
      /** The layout of the IDs. Those with bits that it never sets do not come in. Default: twitter. */
      layout?: LayoutInput | undefined;
      publicIds?: undefined;
    }
  | {
      prefix?: undefined;
      layout?: undefined;
      /** Writes and opens the IDs instead. It has a prefix and a layout of its own. */
      publicIds: PublicIds;
    };

/** What an ID is outside a program: digits, with a prefix if there is one; or its public form. */
export class IdText {
  /** @throws {FlakeIdError} `FLAKEID_INVALID_OPTION` for a prefix that cannot be. */
  constructor(options?: IdTextOptions);
  write(id: IdInput): string;
  /**
   * The ID of a text.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID` for anything else, also for a number, which a reader
   * of JSON has rounded.
   */
  read(text: unknown): bigint;
  /** What such a text looks like. */
  readonly example: string;
}

/**
 * What `JSON.stringify` and `JSON.parse` take: the values under these keys, and arrays of them, are IDs,
 * each written and read as the key's `IdText` says. A number there is refused; null stays null. Other
 * bigints are written as digits.
 */
export function jsonIds(texts: Readonly<Record<string, IdText>>): {
  replacer(key: string, value: unknown): unknown;
  reviver(key: string, value: unknown): unknown;
};
