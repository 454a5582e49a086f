// Acquires, renews and releases a lease of `flakeid serve`, with only fetch.

import { randomBytes } from 'node:crypto';

async function ask(method, url, body) {
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  return text && JSON.parse(text);
}

const hex = (bytes) => randomBytes(bytes).toString('hex');
const leases = '/v1/default/leases';
const grant = await ask('POST', `http://localhost:7117${leases}`, {
  now: Date.now(),
  token: hex(16),
});
console.log(`node ${grant.node}, from tick ${grant.start} to ${grant.fence}`);

// Renewals go to the broker that granted the node, each with a new second half of the token.
const url = `${grant.broker}${leases}/${grant.node}`;
const next = grant.token.slice(0, 16) + hex(8);
const renewed = await ask('PATCH', url, {
  start: grant.start,
  token: grant.token,
  next,
  confirmed: grant.fence,
  wanted: grant.fence + 1000,
  now: Date.now(),
  broker: grant.broker,
});
console.log(`until tick ${renewed.fence}`);

// `used_until` is the tick after the last tick of which an ID was generated.
await ask('DELETE', url, { token: next, used_until: grant.start });
