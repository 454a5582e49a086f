// Two processes that share a port. Each process leases its own node, so you do not assign nodes.

import cluster from 'node:cluster';

if (cluster.isPrimary) {
  for (let count = 0; count < 2; count++) cluster.fork();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      for (const worker of Object.values(cluster.workers)) worker.process.kill(signal);
    });
  }
} else {
  await import('./server.mjs');
}
