import type * as flakeid from './lease.mjs';

/** Everything that the entry `flakeid-wasm/lease` exports. */
export type FlakeIdLease = typeof flakeid;

/** As `init` of `flakeid-wasm/init`, for the module with leases. */
export function init(
  source?: string | URL | Request | Response | BufferSource | WebAssembly.Module,
): Promise<FlakeIdLease>;
