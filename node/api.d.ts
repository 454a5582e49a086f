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
  | 'js-safe';

/** The code strings, the same in every language. */
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
  /** After how long the same call may succeed; missing where waiting does not help. */
  readonly retryAfterMs?: number;
  /** By how much the clock went back, with `FLAKEID_CLOCK_ROLLBACK`. */
  readonly byMs?: number;
  /** When the layout ran out, in Unix milliseconds, with `FLAKEID_HORIZON_REACHED`. */
  readonly horizon?: bigint;
  /** The field at fault, with `FLAKEID_FIELD_OUT_OF_RANGE`. */
  readonly field?: string;
}

/** What the option `clock` may be. */
interface ClockChoices {
  manual: ManualClock;
}

interface CommonOptions {
  /** `twitter` unless set. */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0, instead of the layout's. */
  epoch?: Instant | undefined;
  /** The largest sequence number to use: 2^k - 1. */
  sequenceMask?: number | bigint | undefined;
  /** Begin each tick at a random sequence number below 2^`sequenceStart`; 0 unless set. */
  sequenceStart?: number | bigint | undefined;
  /** When a tick is full: `wait` unless set. `borrow` needs a window. */
  overflow?: 'wait' | 'error' | 'borrow' | undefined;
  /** When the clock goes back: `continue` unless set. */
  rollback?: 'continue' | 'error' | 'wait' | 'clock-sequence' | undefined;
  /** How far ahead of the clock a window may be used: 20 s unless set. */
  maxAheadMs?: number | bigint | undefined;
  /** How long a call waits without progress: 1 s or two ticks unless set, whichever is longer. */
  maxWaitMs?: number | bigint | undefined;
  /** The system's unless set. */
  clock?: ClockChoices[keyof ClockChoices] | undefined;
  /** The ticks to stay within, `fence` exclusive: what a lease grants. */
  window?: { start: number | bigint; fence: number | bigint } | undefined;
}

interface NodeChoices {
  one: { node: number | bigint; nodes?: undefined; datacenter?: undefined; worker?: undefined };
  split: {
    node?: undefined;
    nodes?: undefined;
    datacenter: number | bigint;
    worker: number | bigint;
  };
}

/** The node, or datacenter and worker; there is no default. */
export type GeneratorOptions = CommonOptions & NodeChoices[keyof NodeChoices];

export interface Stats {
  /** Calls, or stalls within a fill, that had to wait. */
  readonly waits: number;
  /** Times the clock was seen to go back. */
  readonly rollbacks: number;
  /** The furthest that an ID's tick was ahead of the clock, in ticks. */
  readonly largestAhead: bigint;
}

/**
 * Makes the IDs of one node: unique and strictly increasing. Generators of one layout and node
 * share their position within a process, worker threads included.
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
  /** The same, without ever waiting. */
  tryFill(ids: BigUint64Array | BigInt64Array): number;
  /** The next ID, waiting off the event loop for at most `maxWaitMs`. */
  nextIdAsync(): Promise<bigint>;
  /** The next `n` IDs, made off the event loop. */
  nextIdsAsync(n: number | bigint): Promise<bigint[]>;
  /** Raises the end of the window to the tick `fence`, exclusive. Not for leased nodes. */
  extend(fence: number | bigint): void;
  /**
   * Ends this generator for good, and returns the last tick in which it issued an ID. Not for leased
   * nodes: `close` those.
   */
  retire(): bigint | null;
  stats(): Stats;
  readonly layout: Layout;
  /** The node in the IDs; the smallest of several. */
  readonly node: number;
  /** All nodes in the IDs, in rising order. */
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
  readonly timestamp: Date;
  readonly unixMs: number;
  readonly tick: bigint;
  readonly node: number;
  /** Where the layout splits its node. */
  readonly datacenter: number | undefined;
  /** Where the layout splits its node. */
  readonly worker: number | undefined;
  readonly clockSequence: number;
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

/** What `pack` takes: a tick or an instant in it, and the node or datacenter and worker. */
export interface PartsInput {
  tick?: number | bigint | undefined;
  unixMs?: number | bigint | undefined;
  node?: number | bigint | undefined;
  datacenter?: number | bigint | undefined;
  worker?: number | bigint | undefined;
  clockSequence?: number | bigint | undefined;
  sequence?: number | bigint | undefined;
}

/** Which bits of an ID mean what. Its figures are exact, and so bigints. */
export class Layout {
  constructor(descriptor: PresetName | (string & {}));
  static parse(descriptor: PresetName | (string & {})): Layout;
  static presets(): PresetName[];
  /** The canonical descriptor. */
  readonly descriptor: string;
  readonly presetName?: PresetName;
  /** How many of the 64 bits are used. */
  readonly width: number;
  readonly epoch: bigint;
  readonly unitMs: bigint;
  readonly maxTick: bigint;
  readonly maxNode: bigint;
  readonly maxDatacenter: bigint | undefined;
  readonly maxWorker: bigint | undefined;
  readonly maxSequence: bigint;
  readonly maxClockSequence: bigint;
  readonly idsPerTick: bigint;
  readonly idsPerSecond: number;
  /** Unix milliseconds of the first instant that has no tick. */
  readonly horizon: bigint;
  /** Unix milliseconds until which IDs are positive in a signed 64-bit column. */
  readonly fitsI64Until: bigint;
  /** Whether every ID is exact as a number. */
  readonly fitsF64: boolean;
  /** Whether the node is datacenter and worker. */
  readonly isSplit: boolean;
  /** Whether generators can be built on it. */
  readonly canGenerate: boolean;
  withEpoch(epoch: Instant): Layout;
  pack(parts: PartsInput): bigint;
  unpack(id: IdInput): Parts;
  lowerBound(instant: Instant): bigint;
  upperBound(instant: Instant): bigint;
  equals(other: unknown): boolean;
  toString(): string;
  toJSON(): string;
}

/** A clock that stands still until it is told otherwise; waiting moves it instead of sleeping. */
export class ManualClock {
  constructor(unixMs: Instant);
  readonly unixMs: bigint;
  set(unixMs: Instant): void;
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
/** Eight bytes, the most significant first. */
export function toBytes(id: IdInput): Uint8Array;
export function fromBytes(bytes: Uint8Array): bigint;

/** For `JSON.stringify`: bigints as strings of decimal digits. */
export function jsonReplacer(key: string, value: unknown): unknown;
/** For `JSON.parse`: the strings under these keys as IDs. */
export function jsonReviver(...keys: string[]): (key: string, value: unknown) => unknown;

export const version: string;
