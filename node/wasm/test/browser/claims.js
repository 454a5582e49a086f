// Opens a generator on the fixed node that the address names.

import { Generator } from '/package/wasm/browser-entry.mjs';

const describe = ({ code, message, retryAfterMs }) => ({ code, message, retryAfterMs });

export async function run(_agent, asked) {
  const node = Number(asked.get('node'));
  const generator = new Generator({ node });
  let early;
  try {
    generator.nextId();
  } catch (error) {
    early = describe(error);
  }
  try {
    const first = await generator.nextIdAsync();
    // The instance has claimed the node, so further generators need not wait.
    const ids = [first, ...generator.nextIds(100), new Generator({ node }).nextId()];
    return { early, ids: ids.map(String) };
  } catch (error) {
    return { early, refused: describe(error) };
  }
}
