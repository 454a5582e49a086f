// The checks that every test runner and runtime runs.

module.exports = function check({ Generator, decode, toBase62, FlakeIdError }, equal, more) {
  const generator = new Generator({ node: 7, ...more });
  const ids = new BigUint64Array(20_000);
  for (let index = 0; index < ids.length; index += 1) ids[index] = generator.nextId();
  equal(new Set(ids).size, ids.length);
  equal(decode(ids[0]).node, 7);
  equal(generator.nextIds(100).length, 100);
  equal(toBase62(ids[0]).length > 5, true);
  let code;
  try {
    new Generator({ node: 5000 });
  } catch (error) {
    equal(error instanceof FlakeIdError, true);
    code = error.code;
  }
  equal(code, 'FLAKEID_FIELD_OUT_OF_RANGE');
};

// Leases a node from a store and returns IDs.
module.exports.lease = async function lease({ Generator }, url) {
  const generator = await Generator.lease(url);
  const ids = await generator.nextIdsAsync(1000);
  const buffered = generator.buffered();
  for (let count = 0; count < 1000; count += 1) ids.push(buffered.nextId());
  await generator.close();
  return ids;
};
