import type * as flakeid from './index.mjs';

/** Everything that the main entry exports. */
export type FlakeId = typeof flakeid;

/**
 * Starts the module and returns what the main entry exports. `source` is where to get it from: a
 * URL, a `Response`, bytes or a `WebAssembly.Module`; by default the file beside this one. Later
 * calls return what the first one did.
 */
export function init(
  source?: string | URL | Request | Response | BufferSource | WebAssembly.Module,
): Promise<FlakeId>;
