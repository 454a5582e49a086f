// Written by `cargo xtask node` from bindings/node/src. Do not edit.

interface ExternalObject<T> {
  readonly '': T;
}
interface ManualClock {
  readonly manualClock: unique symbol;
}
interface PublicIds {
  readonly publicIds: unique symbol;
}
/** A generator. */
type Owned = ExternalObject<'generator'>;
/** The place of a generator, a local handle or a ring, which is free once this is not kept any more. */
type SlotHandle = ExternalObject<'slot'>;
/** A ring over a generator. */
type Ring = ExternalObject<'ring'>;

/** The properties of a layout. */
export interface Figures {
  /** The canonical descriptor. */
  descriptor: string
  /** The name of the preset that it equals. */
  presetName?: string
  /** How many of the 64 bits it uses. */
  width: number
  /** Whether the node is split into datacenter and worker. */
  isSplit: boolean
  /** Whether every ID is exact as a number. */
  fitsF64: boolean
  /** Whether generators can be built on it. */
  canGenerate: boolean
  /** IDs that one node can issue in a second. */
  idsPerSecond: number
  /**
   * epoch, unitMs, maxTick, maxNode, maxSequence, maxClockSequence, idsPerTick, horizon,
   * fitsI64Until, maxDatacenter, maxWorker.
   */
  numbers: BigUint64Array
}

/** The state of a lease. */
export interface LeaseFigures {
  /** start, fence, renewals, grants, failures. */
  numbers: BigUint64Array
  /** When the tick of the fence begins, in Unix milliseconds. */
  fenceUnixMs: number
  /** Until when no other process can have the node, in Unix milliseconds. */
  expiresUnixMs: number
  /** Whether the node belongs to another process from the fence on. */
  fencedOff: boolean
  /** Why the latest attempt failed; absent if it succeeded. */
  lastError?: Error
}

/** The options of a generator or a lease. */
export interface OptionTexts {
  /** A descriptor or a preset's name. */
  layout?: string
  /** Unix milliseconds of tick 0. */
  epoch?: string
  /** The others: a name, its value as text, the next name and so on. */
  settings: Array<string>
}

/** The parts of an ID that is to be packed, as decimal text. */
export interface PartTexts {
  /** The tick; without one, that of `unixMs`. */
  tick?: string
  /** An instant in the tick. */
  unixMs?: string
  /** The node; without one, datacenter and worker. */
  node?: string
  /** The high part of the node. */
  datacenter?: string
  /** The low part of the node. */
  worker?: string
  /** The clock sequence. */
  clockSequence?: string
  /** The sequence. */
  sequence?: string
}

/** Moves a manual clock forward. */
export declare function advanceClock(clock: ExternalObject<ManualClock>, ms: bigint): void

/**
 * Two functions that write the next ID of the generator whose slot is in the second number into
 * the first one: one waits, the other does not.
 */
export declare function bindDispatch(): [nextId: () => void, tryNextId: () => void]

/** A function of a generator that fills an array and returns how many IDs it wrote. */
export declare function bindFill(owned: Owned): (ids: BigUint64Array | BigInt64Array) => number

/** As `bindFill`, but waits only if there is no ID at all, and only for one. */
export declare function bindFillSome(owned: Owned): (ids: BigUint64Array | BigInt64Array) => number

/** As `bindFill`, without ever waiting. */
export declare function bindTryFill(owned: Owned): (ids: BigUint64Array | BigInt64Array) => number

/** Checks how many IDs a buffer is to hold. */
export declare function bufferSize(size: string): number

/**
 * Ends a generator's lease, and waits off the event loop until the calls under way are over and
 * the node was given back.
 */
export declare function closeLease(owned: Owned): Promise<void>

/** Ends all leases of this environment, and waits for that at most a second. */
export declare function closeLeases(): void

/** Ends a ring, and waits for its thread. */
export declare function closeRing(ring: Ring): void

/** A manual clock. */
export declare function createClock(unixMs: bigint): ExternalObject<ManualClock>

/** The public form of the IDs of a domain. */
export declare function createPublicIds(keyring: string, domain: string, descriptor: string, prefix?: string | undefined | null, since?: bigint | undefined | null): ExternalObject<PublicIds>

/** The ID of a text in a form, told by its name. */
export declare function decodeText(form: string, text: string): bigint

/** The descriptor of the default layout. */
export declare function defaultLayout(): string

/** What follows from a layout. */
export declare function describeLayout(descriptor: string): Figures

/** An ID in a text form, told by its name. */
export declare function encodeText(form: string, id: bigint): string

/** Raises the end of the window. */
export declare function extend(owned: Owned, fence: string): void

/** The options that there are, as `name: kind, name: kind`. */
export declare function generatorOptions(): string

/** The canonical descriptor of a generator's layout. */
export declare function layoutOf(owned: Owned): string

/** The state of a generator's lease, if it has one. */
export declare function leaseOf(owned: Owned): LeaseFigures | null

/** The same of a lease. */
export declare function leaseOptions(): string

/** The smallest ID of the tick that contains the instant. */
export declare function lowerBound(descriptor: string, unixMs: bigint): bigint

/** The next ID, made off the event loop. */
export declare function nextIdAsync(owned: Owned): Promise<bigint>

/** The next IDs. */
export declare function nextIds(owned: Owned, n: number): BigUint64Array

/** The next IDs, made off the event loop. */
export declare function nextIdsAsync(owned: Owned, n: number): Promise<BigUint64Array>

/** The nodes of a generator, the smallest first. */
export declare function nodesOf(owned: Owned): BigUint64Array

/** Builds a generator. */
export declare function open(options: OptionTexts, clock?: ExternalObject<ManualClock> | undefined | null): Owned

/**
 * Leases a node off the event loop, for a generator, from the store at the URL, else from the one
 * that `FLAKEID_STORE` names, else from this host's embedded store. The listener is given the kind
 * of an event, its node, start, fence and error, and does not keep the event loop running.
 */
export declare function openLease(url: string | undefined | null, options: OptionTexts, listener?: ((kind: string, node?: bigint, start?: bigint, fence?: bigint, error?: Error) => void) | undefined): Promise<Owned>

/** The ID of a public ID, at an instant or by the system's clock. */
export declare function openPublicId(ids: ExternalObject<PublicIds>, text: string, now?: bigint | undefined | null): bigint

/**
 * Begins a ring over a generator, filled. The listener is given the error each time the generator
 * refuses to refill it, and does not keep the event loop running.
 */
export declare function openRing(owned: Owned, settings: Array<string>, onRejectedPut?: ((error: Error) => void) | undefined): Ring

/** Throws the error for a value that its field cannot hold, or that a JavaScript number cannot. */
export declare function outOfRange(name: string, value: string, most: bigint): never

/** An ID of these parts. */
export declare function pack(descriptor: string, parts: PartTexts): bigint

/** The names of the presets. */
export declare function presets(): Array<string>

/** What a manual clock reads. */
export declare function readClock(clock: ExternalObject<ManualClock>): bigint

/** Ends the generator and returns the last tick it issued in. */
export declare function retire(owned: Owned): bigint | null

/** How many IDs a ring can hold. */
export declare function ringCapacity(ring: Ring): number

/** The same of a ring. */
export declare function ringOptions(): string

/**
 * What happened in a ring: size, taken, dropped because stale, rejected puts, rejected takes,
 * refills.
 */
export declare function ringStats(ring: Ring): BigUint64Array

/** The public form of an ID. */
export declare function sealId(ids: ExternalObject<PublicIds>, id: bigint): string

/** The public form of an ID as 64 bits. */
export declare function sealIdBits(ids: ExternalObject<PublicIds>, id: bigint): bigint

/** Sets a manual clock. */
export declare function setClock(clock: ExternalObject<ManualClock>, unixMs: bigint): void

/**
 * Takes the function that makes errors, and the array of two numbers through which the functions
 * of `bindDispatch` hand IDs over. The array must not be given to anybody else. Further calls in one
 * environment replace the function, and must give the same array.
 */
export declare function setup(makeError: (code: string, message: string, retryAfterMs?: number, byMs?: number, horizon?: bigint, field?: string) => Error, mailbox: BigUint64Array): void

/** What to write into the second number of the array. */
export declare function slotNumber(slot: SlotHandle): number

/** The slot of a generator. */
export declare function slotOf(owned: Owned): SlotHandle

/** The slot of a new local handle. */
export declare function slotOfLocal(owned: Owned): SlotHandle

/** The slot of a ring. */
export declare function slotOfRing(ring: Ring): SlotHandle

/** What happened to a generator: waits, rollbacks, largest ahead. */
export declare function stats(owned: Owned): BigUint64Array

/** tick, unixMs, node, datacenter, worker, clockSequence, sequence. */
export declare function unpack(descriptor: string, id: bigint): BigUint64Array

/** The largest ID of the tick that contains the instant. */
export declare function upperBound(descriptor: string, unixMs: bigint): bigint

/** The version of the library. */
export declare function version(): string

/** The descriptor of the same layout with another epoch. */
export declare function withEpoch(descriptor: string, unixMs: bigint): string
