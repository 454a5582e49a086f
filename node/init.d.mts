import type * as flakeid from './index.mjs';

/** The exports of the main entry. */
export type FlakeId = typeof flakeid;

/** A WebAssembly module: an address, a `Response`, bytes or a compiled module. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/**
 * Starts the module and returns the exports of the main entry. `source` is the module
 * `flakeid-core/flakeid.wasm`, and `leases` the module `flakeid-core/flakeid_lease.wasm`, which the
 * first lease starts (default: the files next to this one). Later calls return the result of the
 * first call. In Node, the package has already started.
 */
export function init(source?: Source, leases?: Source): Promise<FlakeId>;
