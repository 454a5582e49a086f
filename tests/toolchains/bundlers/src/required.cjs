// The program of server.js in the form that bundles in CommonJS require, which have no top-level await.

const { Generator, decode } = require('flakeid-core');

async function main() {
  const generator = await Generator.lease(process.argv[2]);
  const ids = generator.nextIds(1000);
  console.log(JSON.stringify({ node: decode(ids[0]).node, ids: ids.map(String) }));
  await generator.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
