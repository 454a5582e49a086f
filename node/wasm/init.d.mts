import type * as flakeid from './index.mjs';

/** The exports of the main entry. */
export type FlakeId = typeof flakeid;

/**
 * Starts the module and returns the exports of the main entry. `source` is the module: a URL, a
 * `Response`, bytes or a `WebAssembly.Module` (default: the file next to this one). Later calls
 * return the result of the first call.
 */
export function init(
  source?: string | URL | Request | Response | BufferSource | WebAssembly.Module,
): Promise<FlakeId>;
