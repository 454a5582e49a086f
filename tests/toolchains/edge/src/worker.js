// A Worker that generates IDs of a fixed node, and of a node that it leases from a broker.

import { Generator, decode } from 'flakeid-core';
import { IdText } from 'flakeid-core/json';
import { advance } from './still.js';

// The object is created before the first request, when neither timers nor random numbers are available.
const text = new IdText({ prefix: 'order' });
const fixed = new Generator({ node: 7, exclusive: true });
let leased;

const report = ({ code, message }) => ({ code, message });

async function refused(open) {
  try {
    await open();
  } catch (error) {
    return report(error);
  }
  return {};
}

const routes = {
  async refused() {
    return {
      node: await refused(() => new Generator({ node: 8 })),
      store: await refused(() => Generator.lease('postgresql://db')),
      auto: await refused(() => Generator.auto()),
    };
  },

  // Fills several ticks. The clock stands still, except while the request waits for a timer.
  async fixed() {
    const ids = [await fixed.nextIdAsync()];
    const blocked = await refused(() => {
      while (ids.length < 10_000) ids.push(fixed.nextId());
    });
    const { unixMs } = decode(ids.at(-1));
    const wasStill = unixMs === Date.now();
    while (ids.length < 20_000) ids.push(await fixed.nextIdAsync());
    return { blocked, wasStill, ids: ids.map(String), text: text.write(ids[0]) };
  },

  async leased(asked, { BROKER: url }) {
    leased ??= await Generator.lease(`${url}`, { namespace: 'default' });
    const count = Number(asked.get('count') ?? 100);
    const ids = [await leased.nextIdAsync(), ...(await leased.nextIdsAsync(count))];
    const { grants, renewals } = leased.lease;
    return { ids: ids.map(String), node: leased.node, grants, renewals };
  },

  async closed() {
    await leased.close();
    return refused(() => leased.nextId());
  },
};

export default {
  async fetch(request, env) {
    advance();
    const { pathname, searchParams } = new URL(request.url);
    return Response.json(await routes[pathname.slice(1)](searchParams, env));
  },
};
