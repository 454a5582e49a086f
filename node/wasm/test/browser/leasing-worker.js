import { run } from './leasing.js';

const asked = new URL(self.location.href).searchParams;

try {
  self.postMessage(await run(asked.get('url'), asked.get('token')));
} catch (error) {
  self.postMessage({ error: `${error} ${error?.stack}` });
}
