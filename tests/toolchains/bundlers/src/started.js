// The page of leased.js for bundlers that do not read import.meta.url. A loader returns the addresses of
// the WebAssembly files.

import core from 'flakeid-core/flakeid.wasm';
import leases from 'flakeid-core/flakeid_lease.wasm';
import { init } from 'flakeid-core/init';

const { url, token } = Object.fromEntries(new URLSearchParams(location.search));
try {
  const { Generator } = await init(core, leases);
  const generator = await Generator.lease(url, { token });
  const ids = await generator.nextIdsAsync(1000);
  window.result = { nodes: [generator.node], ids: ids.map(String) };
  await generator.close();
} catch (error) {
  window.result = { error: `${error.code} ${error.message}` };
}
