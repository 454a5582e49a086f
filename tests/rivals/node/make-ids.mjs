// Prints ten IDs of each Node package: see ../README.md.

import { setTimeout } from 'node:timers/promises';

import { DiscordSnowflake, TwitterSnowflake } from '@sapphire/snowflake';
import FlakeId from 'flake-idgen';
import { Snowyflake } from 'snowyflake';
import { getTsid } from 'tsid-ts';

// Prints ten IDs, generated 3 ms apart.
async function show(name, layout, make) {
  const ids = [];
  for (let count = 0; count < 10; count += 1) {
    await setTimeout(3);
    ids.push(make());
  }
  console.log([name, layout, ...ids].join('\t'));
}

const flake = new FlakeId({ datacenter: 3, worker: 7 });
const snowyflake = new Snowyflake({ workerId: 3n, processId: 2n, epoch: 1_420_070_400_000n });
await show('@sapphire/snowflake, Twitter', 'twitter', () => TwitterSnowflake.generate());
await show('@sapphire/snowflake, Discord', 'discord', () => DiscordSnowflake.generate());
await show('flake-idgen', 'flakeid,plain', () => flake.next().readBigUInt64BE());
await show('snowyflake, epoch of Discord', 'discord', () => snowyflake.nextId());
await show('tsid-ts', 'tsid', () => getTsid().toBigInt());
