import type * as flakeid from './lease.mjs';

/** The exports of the entry `flakeid-wasm/lease`. */
export type FlakeIdLease = typeof flakeid;

/** Starts the module with leases like `init` of `flakeid-wasm/init`. */
export function init(
  source?: string | URL | Request | Response | BufferSource | WebAssembly.Module,
): Promise<FlakeIdLease>;
