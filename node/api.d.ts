/// <reference lib="esnext.disposable" />

/**
 * An ID as a function argument: a bigint, or a string of decimal digits. Numbers are rejected,
 * because a number represents at most 53 bits exactly, and an ID can have 64 bits.
 */
export type IdInput = bigint | string;

/** An instant: a valid `Date`, or whole Unix milliseconds. */
export type Instant = Date | number | bigint;

/**
 * A layout as a function argument: a `Layout` object, a descriptor
 * (`t41.d5.w5.s12@1288834974657/1ms`), or a preset's name.
 */
export type LayoutInput = Layout | PresetName | (string & {});

export type PresetName =
  | 'twitter'
  | 'flakeid'
  | 'plain'
  | 'baidu'
  | 'baidu-29'
  | 'sonyflake'
  | 'discord'
  | 'instagram'
  | 'js-safe'
  | 'mastodon'
  | 'tsid'
  | 'cosid'
  | 'pgedge';

/** The codes of the library's errors, which are the same in every programming language. */
export type ErrorCode =
  | 'FLAKEID_INVALID_LAYOUT'
  | 'FLAKEID_FIELD_OUT_OF_RANGE'
  | 'FLAKEID_INVALID_ID'
  | 'FLAKEID_INVALID_OPTION'
  | 'FLAKEID_CLOCK_ROLLBACK'
  | 'FLAKEID_SEQUENCE_EXHAUSTED'
  | 'FLAKEID_HORIZON_REACHED'
  | 'FLAKEID_BEFORE_EPOCH'
  | 'FLAKEID_CLOSED'
  | 'FLAKEID_FORKED'
  | 'FLAKEID_RING_EMPTY'
  | 'FLAKEID_LEASE_EXPIRED'
  | 'FLAKEID_NO_FREE_NODE'
  | 'FLAKEID_CLOCK_SKEW'
  | 'FLAKEID_FENCE_IN_FUTURE'
  | 'FLAKEID_STORE_UNAVAILABLE'
  | 'FLAKEID_STORE_REJECTED'
  | 'FLAKEID_NODE_IN_USE';

/**
 * An error that the library throws. For an argument of the wrong type, the library throws a
 * `TypeError` instead, with the code `ERR_INVALID_ARG_TYPE` and the name of the argument.
 */
export class FlakeIdError extends Error {
  private constructor();
  readonly code: ErrorCode;
  /**
   * The time, in milliseconds, after which the same call may succeed; absent if waiting does not
   * help.
   */
  readonly retryAfterMs?: number;
  /**
   * The number of milliseconds by which the clock went backwards, if the code is
   * `FLAKEID_CLOCK_ROLLBACK`.
   */
  readonly byMs?: number;
  /**
   * The instant at which the layout's ticks end, in Unix milliseconds, if the code is
   * `FLAKEID_HORIZON_REACHED`.
   */
  readonly horizon?: bigint;
  /** The name of the field that is out of range, if the code is `FLAKEID_FIELD_OUT_OF_RANGE`. */
  readonly field?: string;
}

/**
 * The name of a clock. `gated`, the default, returns the system time, exact to the millisecond.
 * Where possible, `gated` uses the processor's counter, and reads the system clock only a few times
 * per millisecond. `system` reads the system clock for every ID. `coarse` lags behind the system
 * clock by up to 10 ms. In WebAssembly, all three names refer to the same clock.
 */
export type ClockName = 'system' | 'coarse' | 'gated';

interface CommonOptions {
  // [options: generator fields except node datacenter worker nodes clock]
  /** The layout of the IDs: a preset's name or a descriptor, or a `Layout`. Default: `twitter`. */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's epoch. */
  epoch?: Instant | undefined;
  /**
   * The range of ticks that a lease allows the generator to use, including the start and excluding
   * the fence, as `{ start, fence }`. Default: all ticks.
   */
  window?: { start: number | bigint; fence: number | bigint } | undefined;
  /** The behaviour when a tick has no IDs left. `borrow` requires a window. Default: `wait`. */
  overflow?: 'wait' | 'error' | 'borrow' | undefined;
  /** The behaviour when the clock goes backwards. Default: `continue`. */
  rollback?: 'continue' | 'error' | 'wait' | 'clock-sequence' | undefined;
  /**
   * The largest sequence number to use, which must have the form 2^k - 1. Default: the layout's
   * largest sequence number.
   */
  sequenceMask?: number | bigint | undefined;
  /** The number of random bits in the first sequence number of each tick. Default: 0. */
  sequenceStart?: number | bigint | undefined;
  /**
   * The longest time by which IDs in a window may be ahead of the clock, in milliseconds. Default:
   * 20 s.
   */
  maxAheadMs?: number | bigint | undefined;
  /**
   * The longest time that a call waits without issuing an ID, in milliseconds. Default: 1 s or two
   * ticks, whichever is longer.
   */
  maxWaitMs?: number | bigint | undefined;
  // [/options]
  // [options: instance fields]
  /**
   * Whether the program ensures that no other instance of the package uses the node at the same
   * time. If this is untrue, IDs may be issued twice. A runtime that does not show all instances of
   * WebAssembly requires the option for a fixed node. The native add-on does not need it. Default:
   * `false`.
   */
  exclusive?: boolean | undefined;
  // [/options]
  /** The clock that the generator reads. Default: `gated`. */
  clock?: ManualClock | ClockName | undefined;
}

interface NodeChoices {
  one: {
    // [options: generator required only node]
    /**
     * The node, from 0 to the layout's largest node; there is no default, because no other generator
     * may use the same node at the same time.
     */
    node: number | bigint;
    // [/options]
    nodes?: undefined;
    datacenter?: undefined;
    worker?: undefined;
  };
  split: {
    node?: undefined;
    nodes?: undefined;
    // [options: generator required only datacenter worker]
    /**
     * The high part of the node, in layouts that split the node; must be set together with `worker`.
     */
    datacenter: number | bigint;
    /**
     * The low part of the node, in layouts that split the node; must be set together with
     * `datacenter`.
     */
    worker: number | bigint;
    // [/options]
  };
}

/**
 * The options of a generator. Only the node has no default: specify `node`, or `datacenter` and
 * `worker`. Generators with the same layout that may run at the same time must have different
 * nodes.
 */
export type GeneratorOptions = CommonOptions & NodeChoices[keyof NodeChoices];

/**
 * The statistics of a generator: the numbers of waits and rollbacks, and the largest number of
 * ticks by which an ID was ahead of the clock.
 */
export interface Stats {
  /**
   * The number of waits. A call that generates several IDs may wait several times, and each wait is
   * counted.
   */
  readonly waits: number;
  /** The number of times that the clock went backwards. */
  readonly rollbacks: number;
  /** The largest number of ticks by which an ID was ahead of the clock. */
  readonly largestAhead: bigint;
}

/**
 * A generator of unique, strictly increasing IDs for one node. Generators with the same layout and
 * node in one process, including its worker threads, share their position and never issue the same
 * ID twice.
 *
 * | method | wait | on rollback | on overflow |
 * |---|---|---|---|
 * | `nextId`, `nextNumber` | blocks for at most one tick or 10 ms, whichever is shorter | throws `FLAKEID_CLOCK_ROLLBACK` if a longer wait is necessary | throws `FLAKEID_SEQUENCE_EXHAUSTED` if a longer wait is necessary |
 * | `tryNextId` | never waits | throws `FLAKEID_CLOCK_ROLLBACK` if `nextId` would wait | throws `FLAKEID_SEQUENCE_EXHAUSTED` if `nextId` would wait |
 * | `nextIds`, `fill` | blocks like `nextId`, each time that no ID is available | returns the IDs generated so far; throws only if there are none | same as on rollback |
 * | `tryFill` | never waits | returns the IDs generated so far; throws only if there are none | same as on rollback |
 * | `nextIdAsync` | waits with a timer, for at most `maxWaitMs` | rejects with `FLAKEID_CLOCK_ROLLBACK` | rejects with `FLAKEID_SEQUENCE_EXHAUSTED` |
 * | `nextIdsAsync` | waits with a timer, for at most `maxWaitMs` each time that no ID is available | resolves with the IDs generated so far; rejects only if there are none | same as on rollback |
 *
 * The options `rollback` and `overflow` determine whether a call waits, fails or still issues an
 * ID.
 */
export class Generator implements Iterable<bigint> {
  constructor(options: GeneratorOptions);
  /**
   * Returns the next ID. If necessary, blocks the event loop for at most one tick or 10 ms,
   * whichever is shorter. Throws `FLAKEID_SEQUENCE_EXHAUSTED` or `FLAKEID_CLOCK_ROLLBACK` if a
   * longer wait is necessary.
   */
  nextId(): bigint;
  /** Returns the next ID without waiting. Throws an error if `nextId` would wait. */
  tryNextId(): bigint;
  /** Returns the next ID as a number, for layouts of at most 53 bits, such as `js-safe`. */
  nextNumber(): number;
  /**
   * Returns the next `n` IDs in order. Returns fewer IDs, but at least one, if a wait would be
   * longer than `nextId` allows.
   */
  nextIds(n: number | bigint): bigint[];
  /**
   * Fills the array from the beginning with the next IDs, and returns the number of IDs written.
   * Waits like `nextId`.
   */
  fill(ids: BigUint64Array | BigInt64Array): number;
  /** Fills the array like `fill`, but never waits. */
  tryFill(ids: BigUint64Array | BigInt64Array): number;
  /**
   * Returns the next ID. If necessary, waits for at most `maxWaitMs` without blocking the event loop
   * or a thread. If a wait of `maxWaitMs` would not suffice, rejects without waiting.
   */
  nextIdAsync(): Promise<bigint>;
  /**
   * Returns the next `n` IDs. Waits like `nextIdAsync`, and lets the event loop run other callbacks
   * between parts of the IDs. After `close`, returns the IDs generated so far.
   */
  nextIdsAsync(n: number | bigint): Promise<bigint[]>;
  /**
   * Extends the window up to, but not including, the tick `fence`. Throws for a leased generator,
   * which renews its window automatically.
   */
  extend(fence: number | bigint): void;
  /**
   * Permanently stops this generator. Returns the last tick in which the generator issued an ID, or
   * `null` if it issued no ID. A leased generator cannot be retired; call `close` instead.
   */
  retire(): bigint | null;
  /** Returns the counters of the generator. */
  stats(): Stats;
  /** The layout of the IDs. */
  readonly layout: Layout;
  /** The node in the generator's IDs, or the smallest node if the generator has several nodes. */
  readonly node: number;
  /** All nodes that the generator's IDs can contain, in increasing order. */
  readonly nodes: number[];
  /**
   * Permanently stops this generator, as `retire` does, unless the generator has already been
   * retired. Releases a leased node, unless other generators in the process share the lease.
   * Asynchronous calls that are waiting then fail with `FLAKEID_CLOSED`, or resolve with the IDs
   * generated so far.
   */
  close(): Promise<void>;
  /** Returns an endless iterator of IDs. */
  [Symbol.iterator](): IterableIterator<bigint>;
  /** Closes the generator, but does not wait for the release of a leased node. */
  [Symbol.dispose](): void;
  /** Closes the generator. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The parts of an ID. All parts except `timestamp` and `tick` are plain numbers. */
export interface Decoded {
  /** The time at which the ID's tick begins. */
  readonly timestamp: Date;
  /** The time at which the ID's tick begins, in Unix milliseconds. */
  readonly unixMs: number;
  /** The tick of the ID, counted from the epoch. */
  readonly tick: bigint;
  /** The node of the ID. */
  readonly node: number;
  /** The high part of the node, if the layout splits the node. */
  readonly datacenter: number | undefined;
  /** The low part of the node, if the layout splits the node. */
  readonly worker: number | undefined;
  /** The clock sequence; 0 if the layout has no clock sequence. */
  readonly clockSequence: number;
  /** The sequence number within the tick. */
  readonly sequence: number;
}

/** The parts of an ID as bigints, which are exact in every layout. */
export interface Parts {
  readonly tick: bigint;
  readonly unixMs: bigint;
  readonly node: bigint;
  readonly datacenter: bigint | undefined;
  readonly worker: bigint | undefined;
  readonly clockSequence: bigint;
  readonly sequence: bigint;
}

/**
 * The argument of `pack`: either `tick` or `unixMs`, plus either `node` or both `datacenter` and
 * `worker`.
 */
export interface PartsInput {
  /** The tick. If `unixMs` is also given, `unixMs` must be an instant in this tick. */
  tick?: number | bigint | undefined;
  /** Any instant within the tick, in Unix milliseconds. */
  unixMs?: number | bigint | undefined;
  /** The node. If `datacenter` and `worker` are also given, they must match this node. */
  node?: number | bigint | undefined;
  /** The high part of the node, in layouts that split the node. */
  datacenter?: number | bigint | undefined;
  /** The low part of the node, in layouts that split the node. */
  worker?: number | bigint | undefined;
  /** The clock sequence. Default: 0. */
  clockSequence?: number | bigint | undefined;
  /** The sequence number. Default: 0. */
  sequence?: number | bigint | undefined;
}

/**
 * A layout of IDs: the fields and their widths, the epoch and the length of a tick. Numbers that
 * may exceed 53 bits are `bigint`s.
 */
export class Layout {
  constructor(descriptor: PresetName | (string & {}));
  /** Parses a descriptor or a preset's name, and returns the same layout as the constructor. */
  static parse(descriptor: PresetName | (string & {})): Layout;
  /** Returns the names of all presets. */
  static presets(): PresetName[];
  /** The canonical descriptor. */
  readonly descriptor: string;
  /** The name of the preset, if the layout is a preset. */
  readonly presetName?: PresetName;
  /** The number of bits that the layout uses, out of 64. */
  readonly width: number;
  /** The instant at which tick 0 begins, in Unix milliseconds. */
  readonly epoch: bigint;
  /** The length of a tick, in milliseconds. */
  readonly unitMs: bigint;
  /** The largest tick. */
  readonly maxTick: bigint;
  /** The largest node. */
  readonly maxNode: bigint;
  /** The largest datacenter, if the layout splits its node. */
  readonly maxDatacenter: bigint | undefined;
  /** The largest worker, if the layout splits its node. */
  readonly maxWorker: bigint | undefined;
  /** The largest sequence number. */
  readonly maxSequence: bigint;
  /** The largest clock sequence; 0 if the layout has no clock sequence. */
  readonly maxClockSequence: bigint;
  /** The number of IDs that one node can issue in a tick. */
  readonly idsPerTick: bigint;
  /** The number of IDs that one node can issue in a second. */
  readonly idsPerSecond: number;
  /** The instant at which the layout's ticks end, in Unix milliseconds. */
  readonly horizon: bigint;
  /**
   * The end of the period in which IDs are positive in a signed 64-bit column, in Unix
   * milliseconds.
   */
  readonly fitsI64Until: bigint;
  /** Whether a JavaScript number can exactly represent every ID of the layout. */
  readonly fitsF64: boolean;
  /** Whether the layout splits its node into datacenter and worker. */
  readonly isSplit: boolean;
  /** Whether generators can use the layout. */
  readonly canGenerate: boolean;
  /** Returns a copy of this layout with the given epoch. */
  withEpoch(epoch: Instant): Layout;
  /** Packs parts into an ID. */
  pack(parts: PartsInput): bigint;
  /**
   * Returns the parts of an ID. Throws `FLAKEID_INVALID_ID` if the ID has bits that this layout
   * never sets.
   */
  unpack(id: IdInput): Parts;
  /** Returns the smallest ID in the tick that contains the instant. */
  lowerBound(instant: Instant): bigint;
  /** Returns the largest ID in the tick that contains the instant, for use as an inclusive upper bound. */
  upperBound(instant: Instant): bigint;
  /** Whether another value is a layout with the same descriptor. */
  equals(other: unknown): boolean;
  toString(): string;
  toJSON(): string;
}

/**
 * A clock for tests. The clock moves only when you set or advance it, or when a call has to wait:
 * the call then moves the clock forward instead of sleeping.
 */
export class ManualClock {
  constructor(unixMs: Instant);
  /** The current time of the clock, in Unix milliseconds. */
  readonly unixMs: bigint;
  /** Sets the clock to an earlier or later time. */
  set(unixMs: Instant): void;
  /** Moves the clock forward by the given number of milliseconds. */
  advance(ms: number | bigint): void;
}

/**
 * Returns the parts of an ID in a layout (default: `twitter`). Throws `FLAKEID_FIELD_OUT_OF_RANGE`
 * if a part needs more than 53 bits. Use `Layout.unpack` for layouts with such parts.
 */
export function decode(id: IdInput, layout?: LayoutInput): Decoded;
/** Returns the smallest ID in the tick that contains the instant. */
export function lowerBound(instant: Instant, layout?: LayoutInput): bigint;
/** Returns the largest ID in the tick that contains the instant, for use as an inclusive upper bound. */
export function upperBound(instant: Instant, layout?: LayoutInput): bigint;

export function toDecimal(id: IdInput): string;
export function fromDecimal(text: string): bigint;
export function toBase32(id: IdInput): string;
export function fromBase32(text: string): bigint;
export function toBase36(id: IdInput): string;
export function fromBase36(text: string): bigint;
export function toBase58(id: IdInput): string;
export function fromBase58(text: string): bigint;
export function toBase62(id: IdInput): string;
export function fromBase62(text: string): bigint;
export function toHex(id: IdInput): string;
export function fromHex(text: string): bigint;
/**
 * Returns an ID in base58 with Flickr's alphabet, like `Base58` in the Go package
 * bwmarrin/snowflake.
 */
export function toBase58Flickr(id: IdInput): string;
export function fromBase58Flickr(text: string): bigint;
/** Returns an ID in z-base-32, like `Base32` in the Go package bwmarrin/snowflake. */
export function toZbase32(id: IdInput): string;
export function fromZbase32(text: string): bigint;
/**
 * Returns an ID as the 36 characters of a UUID of version 8, for columns and interfaces that require
 * a UUID. The strings sort in the order of the IDs, and contain no random bits.
 */
export function toUuid(id: IdInput): string;
/** Parses a UUID that `toUuid` returned, in upper or lower case. Throws for any other UUID. */
export function fromUuid(text: string): bigint;
/** Returns an ID as eight bytes, with the most significant byte first. */
export function toBytes(id: IdInput): Uint8Array;
export function fromBytes(bytes: Uint8Array): bigint;

/**
 * Converts bigints to strings of decimal digits. Pass this function to `JSON.stringify` as the
 * replacer.
 */
export function jsonReplacer(key: string, value: unknown): unknown;
/**
 * Returns a reviver for `JSON.parse` that converts the strings under the given keys to IDs. The
 * reviver throws a `TypeError` for numbers under these keys.
 */
export function jsonReviver(...keys: string[]): (key: string, value: unknown) => unknown;

export interface PublicIdsOptions {
  /** The layout of the IDs. Default: `twitter`. */
  layout?: LayoutInput | undefined;
  /**
   * The prefix that precedes the underscore in public IDs: 1 to 16 lowercase letters and digits,
   * beginning with a letter. Default: no prefix.
   */
  prefix?: string | undefined;
  /** The time of the oldest ID that `open` accepts. Default: the layout's epoch. */
  since?: Instant | undefined;
}

/**
 * A converter between the IDs of one domain and their encrypted public form. Public IDs do not
 * reveal when or on which node an ID was generated, or how many IDs exist. Public IDs do not
 * replace authorization, because `open` accepts a made-up string in rare cases.
 */
export class PublicIds {
  /**
   * @param keyring The content of the file that `flakeid keygen` creates.
   * @param domain The kind of object that the IDs identify, such as `user`. The domain must not
   * change while its public IDs are in use.
   * @throws {FlakeIdError} `FLAKEID_INVALID_OPTION` if `keyring`, `domain` or `prefix` is invalid.
   */
  constructor(keyring: string, domain: string, options?: PublicIdsOptions);
  /**
   * Returns the public form of an ID: the prefix, the current key's letter, and 11 base58 digits.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID` if the ID has bits that the layout never sets.
   */
  seal(id: IdInput): string;
  /**
   * Returns the public form of an ID as a 64-bit number, without the prefix and the key letter.
   */
  sealBits(id: IdInput): bigint;
  /**
   * Opens a public ID, and returns the original ID. The argument `now` replaces the time of the
   * system clock.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID` if the key, domain or prefix does not match, if the
   * string was made up, or if the ID's time is before `since` or more than a minute after `now`.
   * The error does not state the reason.
   */
  open(text: string, options?: { now?: Instant | undefined }): bigint;
  readonly layout: Layout;
}

export const version: string;
