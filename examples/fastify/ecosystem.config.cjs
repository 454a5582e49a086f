// pm2 start ecosystem.config.cjs: processes that share a port, each with its own leased node.
module.exports = {
  apps: [{ name: 'orders', script: 'server.mjs', exec_mode: 'cluster', instances: 2 }],
};
