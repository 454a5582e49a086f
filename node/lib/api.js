'use strict';

// The public API on top of a backend. The native add-on and the WebAssembly module share this API.
//
// Files in this folder use only `const { A, B } = require('./b.js');` and one last `module.exports
// = { A, B };`, each on one line, so that replacing those lines turns them into ES modules. They
// use nothing that is specific to Node.
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
//   lowerBound(d: Descriptor, unixMs: bigint): bigint
//   upperBound(d: Descriptor, unixMs: bigint): bigint
//   encodeText(form: string, id: bigint): string
//   decodeText(form: string, text: string): bigint
//   outOfRange(field: string, value: Text, most: bigint): never
//                                             field: node, datacenter, worker, clock_sequence,
//                                             sequence, unix_ms, n or ms
//   createClock(unixMs: bigint): Clock        opaque
//   readClock(clock): bigint
//   setClock(clock, unixMs: bigint): void
//   advanceClock(clock, ms: bigint): void
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
//   OptionTexts: { layout?: Descriptor, epoch?: Text, settings: Settings }
//   Settings: string[]                        an option's name in the core, its value as a string,
//                                             the next name and so on
//   Handle: an object with
//     layout: string (canonical descriptor), nodes: bigints
//     nextId(): bigint, tryNextId(): bigint
//     fill(ids: BigUint64Array | BigInt64Array): number, tryFill(ids): number
//     nextIds(n: number): BigUint64Array       n is an integer from 0 to 2^32 - 1
//     nextIdAsync(): Promise<bigint>, nextIdsAsync(n): Promise<BigUint64Array>
//     extend(fence: Text): void
//     retire(): bigint | null
//     stats(): BigUint64Array                  waits, rollbacks, largest ahead
//     isLeased?: boolean                       if true, the handle also has
//     close(): Promise<void>, lease(): LeaseFigures | undefined
//
// A backend with leases also has (see lease.js):
//   leaseOptions(): string
//   hasEmbeddedStore?: boolean                if true, the URL may be missing
//   openLease(url: string | undefined, options: OptionTexts, listener?): Promise<Handle>
//                                             the listener is called with kind, node, start, fence
//                                             and error
//   LeaseFigures: { numbers: BigUint64Array of start, fence, renewals, grants, failures,
//     fenceUnixMs: number, expiresUnixMs: number, fencedOff: boolean, lastError?: Error }
//
// A backend that connects to stores also has (see namespace.js):
//   namespaceOptions(): string
//   createNamespace(url: string, name: string, options: OptionTexts): Promise<number>
//                                             milliseconds until the store can grant nodes
//
// A backend with access to the system also has (see local.js, buffered.js, cached.js):
//   ringOptions(): string
//   bufferSize(size: Text): number            checks the size
//   its Handles:
//     fillSome(ids): number                   waits only for the first ID
//     local(): { nextId(): bigint, tryNextId(): bigint }
//     ring(settings: Settings, onRejectedPut?): Ring
//   Ring: { nextId(): bigint, take(): bigint, capacity: number, close(): void, stats():
//     BigUint64Array of size, taken, droppedStale, rejectedPut, rejectedTake, refills }
//
// nextId, fill and nextIds wait for at most a tick or 10 ms without progress, whichever is less
// (and at most maxWaitMs); the others never block.

const { FlakeIdError, makeError } = require('./error.js');
const { defineArguments } = require('./arguments.js');
const { defineLayout } = require('./layout.js');
const { defineManualClock } = require('./clock.js');
const { defineOptions } = require('./options.js');
const { defineGenerator } = require('./generator.js');
const { defineDecode } = require('./decode.js');
const { defineText } = require('./text.js');
const { defineJson } = require('./json.js');
const { defineKeyed } = require('./keyed.js');

// Builds the API. `extend` adds the members that only this backend has, and returns further
// exports.
function defineApi(backend, extend = () => ({})) {
  backend.setup(makeError);
  const checks = defineArguments(backend);
  const { Layout, layoutOf } = defineLayout(backend, checks);
  const { ManualClock, clockOf } = defineManualClock(backend, checks);
  const options = defineOptions(checks, layoutOf);
  const { Generator, ...inside } = defineGenerator(backend, checks, options, layoutOf, clockOf);
  return {
    Generator,
    Layout,
    ManualClock,
    FlakeIdError,
    ...defineDecode(checks, layoutOf),
    ...defineText(backend, checks),
    ...defineJson(checks),
    ...defineKeyed(backend, checks, layoutOf),
    ...extend({ backend, checks, layoutOf, ...options, Generator, ...inside }),
    version: backend.version(),
  };
}

module.exports = { defineApi };
