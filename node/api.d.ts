/**
 * An ID as an argument. Numbers are rejected, because they represent only 53 bits exactly and IDs
 * can have more.
 */
export type IdInput = bigint | string;

/** An instant: a valid `Date`, or whole Unix milliseconds. */
export type Instant = Date | number | bigint;

/** A `Layout`, a descriptor (`t41.d5.w5.s12@1288834974657/1ms`), or a preset's name. */
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

/** The error codes, which are the same in every language. */
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
  | 'FLAKEID_STORE_REJECTED';

/**
 * An error that the library throws. An argument of the wrong type throws a `TypeError` instead,
 * with the code `ERR_INVALID_ARG_TYPE` and the name of the argument.
 */
export class FlakeIdError extends Error {
  private constructor();
  readonly code: ErrorCode;
  /** The time after which the same call may succeed; absent if waiting does not help. */
  readonly retryAfterMs?: number;
  /** The time by which the clock went backwards, for `FLAKEID_CLOCK_ROLLBACK`. */
  readonly byMs?: number;
  /** The horizon of the layout, in Unix milliseconds, for `FLAKEID_HORIZON_REACHED`. */
  readonly horizon?: bigint;
  /** The field that is out of range, for `FLAKEID_FIELD_OUT_OF_RANGE`. */
  readonly field?: string;
}

/**
 * The clocks by name. `gated` (default) is the system clock, exact to the millisecond. Where
 * possible, `gated` uses the processor's counter, and reads the system clock only a few times per
 * millisecond. `system` reads the system clock for every ID. `coarse` lags by up to 10 ms. In
 * WebAssembly, the three names mean the same clock.
 */
export type ClockName = 'system' | 'coarse' | 'gated';

interface CommonOptions {
  // [options: generator fields except node datacenter worker nodes clock]
  /** The layout of the IDs: a preset's name or a descriptor, or a `Layout`. Default: `twitter`. */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's epoch. */
  epoch?: Instant | undefined;
  /**
   * The range of ticks to which a lease limits the generator, excluding the fence, as `{ start,
   * fence }`. Default: all ticks.
   */
  window?: { start: number | bigint; fence: number | bigint } | undefined;
  /** The behaviour when a tick is full. `borrow` requires a window. Default: `wait`. */
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
  /** The clock. Default: `gated`. */
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
 * `worker`. The node must be different for every generator of this layout that may run at the same
 * time.
 */
export type GeneratorOptions = CommonOptions & NodeChoices[keyof NodeChoices];

/** The counters of a generator: waits, rollbacks, and the largest distance ahead of the clock. */
export interface Stats {
  /** The number of times that calls had to wait; every wait during a fill is counted. */
  readonly waits: number;
  /** The number of times that the clock went backwards. */
  readonly rollbacks: number;
  /** The largest number of ticks by which an ID was ahead of the clock. */
  readonly largestAhead: bigint;
}

/**
 * A generator of unique, strictly increasing IDs for one node. Generators with the same layout and
 * node share their position within a process, including its worker threads.
 *
 * | method | waits? | on rollback | on overflow |
 * |---|---|---|---|
 * | `nextId`, `nextNumber` | blocks for at most a tick or 10 ms | `FLAKEID_CLOCK_ROLLBACK` if the wait is not long enough | `FLAKEID_SEQUENCE_EXHAUSTED` if the wait is not long enough |
 * | `tryNextId` | never | `FLAKEID_CLOCK_ROLLBACK` where `nextId` would wait | `FLAKEID_SEQUENCE_EXHAUSTED` where `nextId` would wait |
 * | `nextIds`, `fill` | as `nextId`, each time without a new ID | returns the IDs it has; throws only if there are none | the same |
 * | `tryFill` | never | returns the IDs it has; throws only if there are none | the same |
 * | `nextIdAsync` | off the event loop, at most `maxWaitMs` | rejects with `FLAKEID_CLOCK_ROLLBACK` | rejects with `FLAKEID_SEQUENCE_EXHAUSTED` |
 * | `nextIdsAsync` | off the event loop, at most `maxWaitMs` each time without a new ID | resolves with the IDs it has; rejects only if there are none | the same |
 *
 * The options `rollback` and `overflow` define whether a call waits, fails or issues an ID anyway.
 */
export class Generator implements Iterable<bigint> {
  constructor(options: GeneratorOptions);
  /**
   * Returns the next ID. Blocks the event loop for at most a tick or 10 ms, whichever is less, and
   * then throws `FLAKEID_SEQUENCE_EXHAUSTED` or `FLAKEID_CLOCK_ROLLBACK`.
   */
  nextId(): bigint;
  /** Returns the next ID, and never waits. */
  tryNextId(): bigint;
  /** Returns the next ID as a number, for layouts of at most 53 bits, such as `js-safe`. */
  nextNumber(): number;
  /**
   * Returns the next `n` IDs in order; fewer, but at least one, if an obstacle lasted longer than
   * the longest wait.
   */
  nextIds(n: number | bigint): bigint[];
  /** Fills the array from its beginning, and returns the number of IDs. Waits like `nextId`. */
  fill(ids: BigUint64Array | BigInt64Array): number;
  /** Does the same as `fill`, but never waits. */
  tryFill(ids: BigUint64Array | BigInt64Array): number;
  /** Returns the next ID, and waits off the event loop for at most `maxWaitMs`. */
  nextIdAsync(): Promise<bigint>;
  /** Returns the next `n` IDs, which are generated off the event loop. */
  nextIdsAsync(n: number | bigint): Promise<bigint[]>;
  /**
   * Raises the end of the window to the tick `fence`, exclusive. Throws for a leased generator, which
   * renews its window automatically.
   */
  extend(fence: number | bigint): void;
  /**
   * Retires this generator for good, and returns the last tick in which it issued an ID, or `null`
   * if it issued no ID. A leased generator cannot be retired: `close` it.
   */
  retire(): bigint | null;
  /** Returns the counters of the generator. */
  stats(): Stats;
  /** The layout of the IDs. */
  readonly layout: Layout;
  /** The node in the generator's IDs, or the smallest node if there are several. */
  readonly node: number;
  /** All nodes that the generator's IDs can contain, in increasing order. */
  readonly nodes: number[];
  /**
   * Ends this generator for good, like `retire`, unless the generator has already been retired. If
   * its node is leased, the node is released when the running calls have returned, unless other
   * generators of the process share the lease.
   */
  close(): Promise<void>;
  /** Returns an endless iterator of IDs. */
  [Symbol.iterator](): IterableIterator<bigint>;
  /** Closes the generator without waiting until a leased node is released. */
  [Symbol.dispose](): void;
  /** Closes the generator. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The parts of an ID, as plain numbers. */
export interface Decoded {
  /** The beginning of the ID's tick. */
  readonly timestamp: Date;
  /** The beginning of the ID's tick, in Unix milliseconds. */
  readonly unixMs: number;
  /** The tick of the ID, counted from the epoch. */
  readonly tick: bigint;
  /** The node of the ID. */
  readonly node: number;
  /** The high part of the node, if the layout splits the node. */
  readonly datacenter: number | undefined;
  /** The low part of the node, if the layout splits the node. */
  readonly worker: number | undefined;
  /** The clock sequence; 0 in layouts without one. */
  readonly clockSequence: number;
  /** The sequence number within the tick. */
  readonly sequence: number;
}

/** The parts of an ID, which are exact in every layout. */
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
  /** The tick. If `unixMs` is also given, both must agree. */
  tick?: number | bigint | undefined;
  /** Unix milliseconds in the tick. */
  unixMs?: number | bigint | undefined;
  /** The node. If `datacenter` and `worker` are also given, they must agree with the node. */
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

/** The fields of an ID and their widths. Numbers that may exceed 53 bits are `bigint`s. */
export class Layout {
  constructor(descriptor: PresetName | (string & {}));
  /** Returns the same layout as the constructor. */
  static parse(descriptor: PresetName | (string & {})): Layout;
  /** Returns the names of all presets. */
  static presets(): PresetName[];
  /** The canonical descriptor. */
  readonly descriptor: string;
  /** The name of the preset, if the layout is a preset. */
  readonly presetName?: PresetName;
  /** The number of bits that the layout uses, out of 64. */
  readonly width: number;
  /** The beginning of tick 0, in Unix milliseconds. */
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
  /** The first instant that has no tick, in Unix milliseconds. */
  readonly horizon: bigint;
  /**
   * The end of the period in which IDs are positive in a signed 64-bit column, in Unix
   * milliseconds.
   */
  readonly fitsI64Until: bigint;
  /** Whether a number represents every ID exactly. */
  readonly fitsF64: boolean;
  /** Whether the layout splits its node into datacenter and worker. */
  readonly isSplit: boolean;
  /** Whether generators can use the layout. */
  readonly canGenerate: boolean;
  /** Returns the same layout with another epoch. */
  withEpoch(epoch: Instant): Layout;
  /** Packs parts into an ID. */
  pack(parts: PartsInput): bigint;
  /** Returns the parts of an ID. Throws `FLAKEID_INVALID_ID` for bits that this layout never sets. */
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
 * A clock for tests that moves only when you set or advance it. A wait moves the clock forward
 * instead of sleeping.
 */
export class ManualClock {
  constructor(unixMs: Instant);
  /** The time of the clock, in Unix milliseconds. */
  readonly unixMs: bigint;
  /** Sets the clock forward or back. */
  set(unixMs: Instant): void;
  /** Moves the clock forward by the given number of milliseconds. */
  advance(ms: number | bigint): void;
}

/**
 * Returns the parts of an ID in a layout (default: `twitter`). Throws `FLAKEID_FIELD_OUT_OF_RANGE`
 * for a part of more than 53 bits, which some layouts have; use `Layout.unpack` for such layouts.
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
/** Returns an ID in base58 with Flickr's alphabet, like `Base58` in Go's bwmarrin/snowflake. */
export function toBase58Flickr(id: IdInput): string;
export function fromBase58Flickr(text: string): bigint;
/** Returns an ID in z-base-32, like `Base32` in Go's bwmarrin/snowflake. */
export function toZbase32(id: IdInput): string;
export function fromZbase32(text: string): bigint;
/** Returns an ID as eight bytes, the most significant byte first. */
export function toBytes(id: IdInput): Uint8Array;
export function fromBytes(bytes: Uint8Array): bigint;

/** Converts bigints to strings of decimal digits; an argument for `JSON.stringify`. */
export function jsonReplacer(key: string, value: unknown): unknown;
/**
 * Returns an argument for `JSON.parse` that converts the strings under these keys to IDs. Throws a
 * `TypeError` for numbers.
 */
export function jsonReviver(...keys: string[]): (key: string, value: unknown) => unknown;

export interface PublicIdsOptions {
  /** The layout of the IDs. Default: twitter. */
  layout?: LayoutInput | undefined;
  /** The prefix of public IDs, before an underscore: up to 16 lowercase letters and digits. */
  prefix?: string | undefined;
  /** The earliest time of IDs that can be opened. Default: the layout's epoch. */
  since?: Instant | undefined;
}

/**
 * A converter between the IDs of one domain and their public form, which is encrypted and reveals
 * no time, node or number. Public IDs do not replace authorization: in rare cases a made-up string
 * can be opened as an ID.
 */
export class PublicIds {
  /**
   * @param keyring The content of the file that `flakeid keygen` creates.
   * @param domain The kind of object that the IDs identify, such as `user`. The domain must not
   * change while its public IDs are in use.
   * @throws {FlakeIdError} `FLAKEID_INVALID_OPTION`, for `keyring`, `domain` or `prefix`.
   */
  constructor(keyring: string, domain: string, options?: PublicIdsOptions);
  /**
   * Returns the public form of an ID: the prefix, the current key's letter, and 11 base58 digits.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID` if the ID has bits that the layout never sets.
   */
  seal(id: IdInput): string;
  /** Returns the public form of an ID as 64 bits, without the prefix and the key letter. */
  sealBits(id: IdInput): bigint;
  /**
   * Opens a public ID, and returns the ID; `now` replaces the system clock.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID`, which does not state the reason, if the key,
   * domain or prefix differs, if the string was made up, or if the ID is from before `since` or
   * from more than a minute after `now`.
   */
  open(text: string, options?: { now?: Instant | undefined }): bigint;
  readonly layout: Layout;
}

export const version: string;
