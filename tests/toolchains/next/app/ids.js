// The generator of the server, which leases its node when the first page requests an ID.

import { Generator } from 'flakeid-core';

let generator;

export async function nextId() {
  generator ??= Generator.lease(process.env.FLAKEID_STORE);
  return (await generator).nextIdAsync();
}
