import { run } from './checks.js';

// Told in the address, not in a message: one that comes while the import above still waits for the
// module finds no listener yet.
const node = Number(new URL(self.location.href).searchParams.get('node'));

try {
  self.postMessage(await run(node));
} catch (error) {
  self.postMessage({ error: `${error} ${error?.stack}` });
}
