import { run } from './checks.js';

// The address contains the node, because a message could arrive while the import above still waits
// for the module, before there is a listener.
const node = Number(new URL(self.location.href).searchParams.get('node'));

try {
  self.postMessage(await run(node));
} catch (error) {
  self.postMessage({ error: `${error} ${error?.stack}` });
}
