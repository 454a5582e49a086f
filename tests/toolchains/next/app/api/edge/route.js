import { Generator } from 'flakeid-core';
import { IdText } from 'flakeid-core/json';

export const runtime = 'edge';
export const dynamic = 'force-dynamic';

const text = new IdText({ prefix: 'order' });
// The broker leases the nodes from 0 on.
const generator = new Generator({ node: 1000, exclusive: true });

export async function GET() {
  let refused;
  try {
    new Generator({ node: 8 });
  } catch ({ code }) {
    refused = code;
  }
  const leased = await Generator.lease(process.env.FLAKEID_BROKER);
  const ids = [await generator.nextIdAsync(), await leased.nextIdAsync()];
  await leased.close();
  return Response.json({ refused, id: text.write(ids[0]), leased: `${ids[1]}` });
}
