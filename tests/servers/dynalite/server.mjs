// Starts dynalite on a port of this host: `node server.mjs MODULES PORT DATA`.
//
// If a client disconnects before it has sent its whole request, dynalite throws the error of the request, which ends
// the server. The second handler of requests replaces the listener that throws.
import { createRequire } from 'node:module';

const [modules, port, path] = process.argv.slice(2);
const dynalite = createRequire(`${modules}/`)('dynalite');
const server = dynalite({ path, createTableMs: 10, deleteTableMs: 10 });
server.on('request', (request) => {
  request.removeAllListeners('error');
  request.on('error', () => {
    // The response has no recipient any more.
  });
});
server.listen(Number(port), '127.0.0.1');
