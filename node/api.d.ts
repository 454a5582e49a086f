/** An ID as an argument. Numbers are refused: IDs have more than the 53 bits that they hold. */
export type IdInput = bigint | string;

/** An instant: a valid `Date`, or whole Unix milliseconds. */
export type Instant = Date | number | bigint;

/** A layout, its descriptor (`t41.d5.w5.s12@1288834974657/1ms`), or a preset's name. */
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

/** The codes of errors, the same in every language. */
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
 * Every error but wrong types, which are a `TypeError` with the code `ERR_INVALID_ARG_TYPE` that
 * names the argument.
 */
export class FlakeIdError extends Error {
  private constructor();
  readonly code: ErrorCode;
  /** How long to wait before the same call may succeed; missing where waiting does not help. */
  readonly retryAfterMs?: number;
  /** By how much the clock went back, with `FLAKEID_CLOCK_ROLLBACK`. */
  readonly byMs?: number;
  /** When the layout ran out, in Unix milliseconds, with `FLAKEID_HORIZON_REACHED`. */
  readonly horizon?: bigint;
  /** The field that is out of range, with `FLAKEID_FIELD_OUT_OF_RANGE`. */
  readonly field?: string;
}

/** What the option `clock` may be. */
interface ClockChoices {
  manual: ManualClock;
}

interface CommonOptions {
  // [options: generator fields except node datacenter worker nodes clock]
  /**
   * The layout of the IDs: the name of a preset or a descriptor; or a `Layout`. Default: `twitter`.
   */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's. */
  epoch?: Instant | undefined;
  /**
   * The ticks to which a lease limits the generator, the fence exclusive, as `{ start, fence }`.
   * Default: all ticks.
   */
  window?: { start: number | bigint; fence: number | bigint } | undefined;
  /** The behaviour when a tick is full. `borrow` requires a window. Default: `wait`. */
  overflow?: 'wait' | 'error' | 'borrow' | undefined;
  /** The behaviour when the clock goes backwards. Default: `continue`. */
  rollback?: 'continue' | 'error' | 'wait' | 'clock-sequence' | undefined;
  /** The largest sequence number to use: 2^k - 1. Default: the layout's. */
  sequenceMask?: number | bigint | undefined;
  /** The number of bits of a random sequence number with which each tick begins. Default: 0. */
  sequenceStart?: number | bigint | undefined;
  /**
   * The longest time by which IDs of a window may be ahead of the clock, in milliseconds. Default:
   * 20 s.
   */
  maxAheadMs?: number | bigint | undefined;
  /**
   * The longest time that a call waits without issuing an ID, in milliseconds. Default: 1 s or two
   * ticks, whichever is longer.
   */
  maxWaitMs?: number | bigint | undefined;
  // [/options]
  /** The clock. Default: the system's. */
  clock?: ClockChoices[keyof ClockChoices] | undefined;
}

interface NodeChoices {
  one: {
    /** The node, from 0 to the layout's `maxNode`. */
    node: number | bigint;
    nodes?: undefined;
    datacenter?: undefined;
    worker?: undefined;
  };
  split: {
    node?: undefined;
    nodes?: undefined;
    /** The high part of the node, in layouts that split it. */
    datacenter: number | bigint;
    /** The low part of the node, in layouts that split it. */
    worker: number | bigint;
  };
}

/**
 * The options of a generator. Only the node has no default: give `node`, or `datacenter` and
 * `worker`. It must be different for every generator of this layout that may run at the same time.
 */
export type GeneratorOptions = CommonOptions & NodeChoices[keyof NodeChoices];

/** What happened to a generator besides issuing IDs. */
export interface Stats {
  /** How many calls had to wait; a fill counts each time that it had to. */
  readonly waits: number;
  /** How many times the clock went back. */
  readonly rollbacks: number;
  /** The largest distance of an ID's tick ahead of the clock, in ticks. */
  readonly largestAhead: bigint;
}

/**
 * Makes the IDs of one node: unique and strictly increasing. Generators of one layout and node
 * share their position within a process, worker threads included.
 *
 * | method | waits? | on rollback | on overflow |
 * |---|---|---|---|
 * | `nextId`, `nextNumber` | blocks for at most a tick or 10 ms | `FLAKEID_CLOCK_ROLLBACK` if that is too short | `FLAKEID_SEQUENCE_EXHAUSTED` if that is too short |
 * | `tryNextId` | never | `FLAKEID_CLOCK_ROLLBACK` where `nextId` would wait | `FLAKEID_SEQUENCE_EXHAUSTED` where `nextId` would wait |
 * | `nextIds`, `fill` | as `nextId`, each time without a new ID | returns the IDs it has; throws only if there are none | the same |
 * | `tryFill` | never | returns the IDs it has; throws only if there are none | the same |
 * | `nextIdAsync` | off the event loop, at most `maxWaitMs` | rejects with `FLAKEID_CLOCK_ROLLBACK` | rejects with `FLAKEID_SEQUENCE_EXHAUSTED` |
 * | `nextIdsAsync` | off the event loop, at most `maxWaitMs` each time without a new ID | resolves with the IDs it has; rejects only if there are none | the same |
 *
 * The options `rollback` and `overflow` say whether a call may wait, or issue an ID all the same.
 */
export class Generator implements Iterable<bigint> {
  constructor(options: GeneratorOptions);
  /**
   * The next ID. Keeps the event loop waiting for at most a tick or 10 ms, whichever is less, and
   * then throws `FLAKEID_SEQUENCE_EXHAUSTED` or `FLAKEID_CLOCK_ROLLBACK`.
   */
  nextId(): bigint;
  /** The next ID, without ever waiting. */
  tryNextId(): bigint;
  /** The next ID as a number, for layouts of at most 53 bits such as `js-safe`. */
  nextNumber(): number;
  /** The next `n` IDs in order; fewer, but at least one, if an obstacle outlasted the wait. */
  nextIds(n: number | bigint): bigint[];
  /** Fills the array from its beginning, and returns how many IDs it wrote. Waits as `nextId`. */
  fill(ids: BigUint64Array | BigInt64Array): number;
  /** As `fill`, without ever waiting. */
  tryFill(ids: BigUint64Array | BigInt64Array): number;
  /** The next ID, waiting off the event loop for at most `maxWaitMs`. */
  nextIdAsync(): Promise<bigint>;
  /** The next `n` IDs, made off the event loop. */
  nextIdsAsync(n: number | bigint): Promise<bigint[]>;
  /**
   * Raises the end of the window to the tick `fence`, exclusive. A leased generator renews its window
   * by itself, so this throws there.
   */
  extend(fence: number | bigint): void;
  /**
   * Ends this generator for good, and returns the last tick in which it issued an ID, or `null` if it
   * issued none. A leased generator cannot be retired: `close` it.
   */
  retire(): bigint | null;
  /** What happened besides issuing IDs. */
  stats(): Stats;
  /** The layout of the IDs. */
  readonly layout: Layout;
  /** The node in the IDs; the smallest if there are several. */
  readonly node: number;
  /** All nodes in the IDs, in increasing order. */
  readonly nodes: number[];
  /**
   * Ends this generator for good: `retire`, unless that was done already. If its node is leased,
   * the node is given back once the calls under way are over, unless other generators of the
   * process share the lease.
   */
  close(): Promise<void>;
  /** IDs without end. */
  [Symbol.iterator](): IterableIterator<bigint>;
  /** `close`, without waiting until a leased node was given back. */
  [Symbol.dispose](): void;
  /** `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** An ID's parts as plain numbers. */
export interface Decoded {
  /** When the ID's tick began. */
  readonly timestamp: Date;
  /** When the ID's tick began, in Unix milliseconds. */
  readonly unixMs: number;
  /** How many ticks after the epoch that was. */
  readonly tick: bigint;
  /** The node. */
  readonly node: number;
  /** The high part of the node, if the layout splits it. */
  readonly datacenter: number | undefined;
  /** The low part of the node, if the layout splits it. */
  readonly worker: number | undefined;
  /** The clock sequence; 0 in layouts without one. */
  readonly clockSequence: number;
  /** The sequence number within the tick. */
  readonly sequence: number;
}

/** An ID's parts, exact in every layout. */
export interface Parts {
  readonly tick: bigint;
  readonly unixMs: bigint;
  readonly node: bigint;
  readonly datacenter: bigint | undefined;
  readonly worker: bigint | undefined;
  readonly clockSequence: bigint;
  readonly sequence: bigint;
}

/** What `pack` takes. The time is `tick` or `unixMs`, the node is `node` or `datacenter` and `worker`. */
export interface PartsInput {
  /** The tick. If `unixMs` is given too, they must agree. */
  tick?: number | bigint | undefined;
  /** Unix milliseconds in the tick. */
  unixMs?: number | bigint | undefined;
  /** The node. If `datacenter` and `worker` are given too, they must agree. */
  node?: number | bigint | undefined;
  /** The high part of the node, in layouts that split it. */
  datacenter?: number | bigint | undefined;
  /** The low part of the node, in layouts that split it. */
  worker?: number | bigint | undefined;
  /** The clock sequence. Default: 0. */
  clockSequence?: number | bigint | undefined;
  /** The sequence number. Default: 0. */
  sequence?: number | bigint | undefined;
}

/** Which bits of an ID mean what. Its numbers are `bigint`s where 53 bits may not hold them. */
export class Layout {
  constructor(descriptor: PresetName | (string & {}));
  /** The same as the constructor. */
  static parse(descriptor: PresetName | (string & {})): Layout;
  /** The names of all presets. */
  static presets(): PresetName[];
  /** The canonical descriptor. */
  readonly descriptor: string;
  /** The name, if the layout is a preset. */
  readonly presetName?: PresetName;
  /** How many of the 64 bits are used. */
  readonly width: number;
  /** When tick 0 begins, in Unix milliseconds. */
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
  /** The largest clock sequence; 0 if the layout has none. */
  readonly maxClockSequence: bigint;
  /** How many IDs one node can issue in a tick. */
  readonly idsPerTick: bigint;
  /** How many IDs one node can issue in a second. */
  readonly idsPerSecond: number;
  /** Unix milliseconds of the first instant that has no tick. */
  readonly horizon: bigint;
  /** Unix milliseconds until which IDs are positive in a signed 64-bit column. */
  readonly fitsI64Until: bigint;
  /** Whether every ID is exact as a number. */
  readonly fitsF64: boolean;
  /** Whether the layout splits its node into datacenter and worker. */
  readonly isSplit: boolean;
  /** Whether generators can be built on the layout. */
  readonly canGenerate: boolean;
  /** The same layout with another epoch. */
  withEpoch(epoch: Instant): Layout;
  /** The ID that consists of these parts. */
  pack(parts: PartsInput): bigint;
  /** The parts of an ID. Throws `FLAKEID_INVALID_ID` for bits that this layout never sets. */
  unpack(id: IdInput): Parts;
  /** The smallest ID of the tick that contains the instant. */
  lowerBound(instant: Instant): bigint;
  /** The largest ID of the tick that contains the instant, inclusive. */
  upperBound(instant: Instant): bigint;
  /** Whether the other value is a layout with the same descriptor. */
  equals(other: unknown): boolean;
  toString(): string;
  toJSON(): string;
}

/** A clock that stands still until you move it; waiting moves it instead of sleeping. */
export class ManualClock {
  constructor(unixMs: Instant);
  /** What the clock reads, in Unix milliseconds. */
  readonly unixMs: bigint;
  /** Sets the clock, forward or back. */
  set(unixMs: Instant): void;
  /** Moves the clock forward by this many milliseconds. */
  advance(ms: number | bigint): void;
}

/**
 * The parts of an ID in a layout, `twitter` unless given. Throws `FLAKEID_FIELD_OUT_OF_RANGE` for a
 * part of more than 53 bits, which some layouts have; `Layout.unpack` has those.
 */
export function decode(id: IdInput, layout?: LayoutInput): Decoded;
/** The smallest ID of the tick that contains the instant. */
export function lowerBound(instant: Instant, layout?: LayoutInput): bigint;
/** The largest ID of the tick that contains the instant, inclusive. */
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
/** Base58 in Flickr's alphabet, which is what `Base58` of Go's bwmarrin/snowflake writes. */
export function toBase58Flickr(id: IdInput): string;
export function fromBase58Flickr(text: string): bigint;
/** z-base-32 of the number, which is what `Base32` of Go's bwmarrin/snowflake writes. */
export function toZbase32(id: IdInput): string;
export function fromZbase32(text: string): bigint;
/** Eight bytes, the most significant first. */
export function toBytes(id: IdInput): Uint8Array;
export function fromBytes(bytes: Uint8Array): bigint;

/** For `JSON.stringify`: bigints as strings of decimal digits. */
export function jsonReplacer(key: string, value: unknown): unknown;
/** For `JSON.parse`: the strings under these keys as IDs. A number there is a `TypeError`. */
export function jsonReviver(...keys: string[]): (key: string, value: unknown) => unknown;

export interface PublicIdsOptions {
  /** The layout of the IDs. Default: twitter. */
  layout?: LayoutInput | undefined;
  /** What public IDs begin with, before an underscore: up to 16 lower-case letters and digits. */
  prefix?: string | undefined;
  /** IDs from before do not open. Default: the layout's epoch. */
  since?: Instant | undefined;
}

/**
 * IDs of one domain as outsiders see them: encrypted, so that they tell neither a time nor a node nor a
 * number. It hides; it does not authorise: a text that was made up may open as some ID, if seldom.
 */
export class PublicIds {
  /**
   * @param keyring The text of the file that `flakeid keygen` makes.
   * @param domain What the IDs are of, such as `user`; fixed for as long as their public form is in use.
   * @throws {FlakeIdError} `FLAKEID_INVALID_OPTION`, for `keyring`, `domain` or `prefix`.
   */
  constructor(keyring: string, domain: string, options?: PublicIdsOptions);
  /**
   * The prefix, the letter of the current key, and 11 digits of base58.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID` if the ID has bits that the layout never sets.
   */
  seal(id: IdInput): string;
  /** The same as 64 bits, without the prefix and the letter of the key. */
  sealBits(id: IdInput): bigint;
  /**
   * The ID of a public ID; `now` stands for the system's clock.
   * @throws {FlakeIdError} `FLAKEID_INVALID_ID`, which does not say why: another key, domain or prefix,
   * a text that was made up, or an ID from before `since` or from more than a minute after now.
   */
  open(text: string, options?: { now?: Instant | undefined }): bigint;
  readonly layout: Layout;
}

export const version: string;
