'use strict';

// The public API on top of a backend: the native add-on (native.js) or WebAssembly (wasm.js).
//
// Files in this folder use only `const { A, B } = require('./b.js');` and one last `module.exports
// = { A, B };`, so that replacing those lines turns them into ES modules. Only addon.js, native.js,
// platform.js and threads.js use Node.
//
// A backend is an object with the following functions. The types of users' arguments are checked before
// the call; the core checks ranges. `Text` is decimal digits of any length, with an optional sign, for a
// value that a u64 may not hold. `Descriptor` is a layout's descriptor or a preset's name. A `bigint`
// argument is within u64 (instants: within i64). Failures throw the result of
// `makeError(code, message, retryAfterMs, byMs, horizon, field)`. Missing details are undefined or null;
// `horizon` is a bigint of Unix milliseconds, and the two times are numbers.
//
//   setup(makeError): void                    called once, before anything else
//   version(): string
//   presets(): string[]
//   defaultLayout(): string                   a canonical descriptor
//   describeLayout(d: Descriptor): Figures    canonical descriptor and the derived numbers
//   withEpoch(d: Descriptor, unixMs: bigint): string
//   pack(d: Descriptor, parts: PartTexts): bigint
//   unpack(d: Descriptor, id: bigint): BigUint64Array
//                                             tick, unixMs, node, datacenter, worker,
//                                             clockSequence, sequence; 0 if the layout has none
//   lowerBound(d: Descriptor, unixMs: bigint): bigint, upperBound(d, unixMs): bigint
//   encodeText(form: string, id: bigint): string, decodeText(form, text: string): bigint
//   outOfRange(field: string, value: Text, most: bigint): never
//                                             field: node, datacenter, worker, clock_sequence,
//                                             sequence, unix_ms, n, ms or size
//   createClock(unixMs: bigint): Clock        opaque
//   readClock(clock): bigint, setClock(clock, unixMs: bigint): void, advanceClock(clock, ms: bigint)
//   generatorOptions(): string                the options in the core, as 'name: kind, name: kind';
//                                             kinds are number, numbers, text and flag
//   open(options: OptionTexts, clock?: Clock): Handle
//   createPublicIds(keyring: string, domain: string, d: Descriptor, prefix?: string, since?: bigint):
//     PublicIds                               opaque
//   sealId(ids: PublicIds, id: bigint): string, sealIdBits(ids, id): bigint
//   openPublicId(ids, text: string, now?: bigint): bigint
//
//   Figures: { descriptor: string, presetName?: string, width: number, isSplit: boolean,
//     fitsF64: boolean, canGenerate: boolean, idsPerSecond: number, numbers: BigUint64Array of
//     epoch, unitMs, maxTick, maxNode, maxSequence, maxClockSequence, idsPerTick, horizon,
//     fitsI64Until, maxDatacenter, maxWorker (the last two are 0 if the node is not split) }
//   PartTexts: { tick?, unixMs?, node?, datacenter?, worker?, clockSequence?, sequence? }: Text
//     each. Without a tick, unixMs defines it; without a node, datacenter and worker define it.
//   OptionTexts: { layout?: Descriptor, epoch?: Text, settings: Settings, isAlone?: boolean }
//     isAlone: whether the program ensures that no other instance uses the node
//   Settings: string[]                        an option's name in the core, its value as a string,
//                                             the next name and so on
//   Handle: an object with
//     layout: string (canonical descriptor), nodes: bigints
//     nextId(): bigint, tryNextId(): bigint
//     fill(ids: BigUint64Array | BigInt64Array): number, tryFill(ids): number
//     fillSome(ids): number                   waits only for the first ID
//     nextIds(n: number): BigUint64Array       n is an integer from 0 to 2^32 - 1
//     nextIdAsync(): Promise<bigint>, nextIdsAsync(n): Promise<BigUint64Array>
//     extend(fence: Text): void
//     retire(): bigint | null
//     stats(): BigUint64Array                  waits, rollbacks, largest ahead
//     local(): { nextId(): bigint, tryNextId(): bigint }
//     ring(settings: Settings, onRejectedPut?): Ring
//     isLeased?: boolean                       if true, the handle also has
//     close(): Promise<void>, lease(): LeaseFigures | undefined
//
//   prepareLeases?(url: string | undefined): Promise<void>
//                                             called before the next two functions
//   leaseOptions(): string
//   openLease(url: string | undefined, options: OptionTexts, listener?): Promise<Handle>
//                                             the listener is called with kind, node, start, fence
//                                             and error
//   LeaseFigures: { numbers: BigUint64Array of start, fence, renewals, grants, failures,
//     fenceUnixMs: number, expiresUnixMs: number, fencedOff: boolean, lastError?: Error }
//
// These functions throw an error that names the add-on if the backend cannot have their objects:
//   namespaceOptions(): string
//   createNamespace(url: string, name: string, options: OptionTexts): Promise<number>
//                                             milliseconds until the store can grant nodes
//   ringOptions(): string
//   Ring: { nextId(): bigint, take(): bigint, capacity: number, close(): void, stats():
//     BigUint64Array of size, taken, droppedStale, rejectedPut, rejectedTake, refills }
//
// nextId, fill and nextIds wait for at most a tick or 10 ms without progress, whichever is less
// (and at most maxWaitMs); the others never block.

const { FlakeIdError, makeError } = require('./error.js');
const { defineArguments } = require('./arguments.js');
const { defineDecode } = require('./decode.js');
const { defineGenerator } = require('./generator.js');
const { defineHandles } = require('./handles.js');
const { defineKeyed } = require('./keyed.js');
const { defineLayout } = require('./layout.js');
const { defineLease } = require('./lease.js');
const { defineManualClock } = require('./clock.js');
const { defineOptions } = require('./options.js');
const { defineText } = require('./text.js');

function defineApi(backend) {
  backend.setup(makeError);
  const checks = defineArguments(backend);
  const { Layout, layoutOf } = defineLayout(backend, checks);
  const { ManualClock, clockOf } = defineManualClock(backend, checks);
  const options = defineOptions(checks, layoutOf);
  const { Generator, ...inside } = defineGenerator(backend, checks, options, layoutOf, clockOf);
  const all = { backend, checks, ...options, Generator, ...inside };
  return {
    Generator,
    Layout,
    ManualClock,
    FlakeIdError,
    ...defineHandles(all),
    ...defineLease(all),
    ...defineDecode(checks, layoutOf),
    ...defineText(backend, checks),
    ...defineKeyed(backend, checks, layoutOf),
    version: backend.version(),
  };
}

module.exports = { defineApi };
