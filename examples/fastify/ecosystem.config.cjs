// pm2 start ecosystem.config.cjs: processes that share a port, each of which leases a node of its own.
module.exports = {
  apps: [{ name: 'orders', script: 'server.mjs', exec_mode: 'cluster', instances: 2 }],
};
