// A page that leases a node from the broker that its address names.

import { Generator } from 'flakeid-core';

const { url, token } = Object.fromEntries(new URLSearchParams(location.search));
try {
  const generator = await Generator.lease(url, { token });
  const ids = await generator.nextIdsAsync(1000);
  window.result = { nodes: [generator.node], ids: ids.map(String) };
  await generator.close();
} catch (error) {
  window.result = { error: `${error.code} ${error.message}` };
}
