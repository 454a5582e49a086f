// The page of leased.js for bundlers that do not read import.meta.url. A loader returns the address of the
// WebAssembly file.

import file from 'flakeid-wasm/flakeid_lease.wasm';
import { init } from 'flakeid-wasm/lease/init';

const { url, token } = Object.fromEntries(new URLSearchParams(location.search));
try {
  const { Generator } = await init(file);
  const generator = await Generator.lease(url, { token });
  const ids = await generator.nextIdsAsync(1000);
  window.result = { nodes: [generator.node], ids: ids.map(String) };
  await generator.close();
} catch (error) {
  window.result = { error: `${error.code} ${error.message}` };
}
