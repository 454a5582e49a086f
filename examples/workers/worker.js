// A Worker whose isolates lease their nodes from a broker.

import { Generator } from 'flakeid-core';

let generator;

export default {
  async fetch(_request, env) {
    generator ??= await Generator.lease(env.BROKER, { namespace: 'edge' });
    return Response.json({ id: `${await generator.nextIdAsync()}` });
  },
};
