// A Durable Object on a fixed node. Only one object with this name runs at a time.

import { Generator } from 'flakeid-core';

export class Ids {
  #generator = new Generator({ node: 7, exclusive: true });

  async fetch() {
    return Response.json({ id: `${await this.#generator.nextIdAsync()}` });
  }
}

export default {
  fetch(request, env) {
    return env.IDS.get(env.IDS.idFromName('node 7')).fetch(request);
  },
};
