// Tests of the types that only the native package has, through require: this file is compiled, but
// never run.

import flakeid = require('flakeid-core');

const buffer: Buffer = flakeid.toBuffer(1n);
const id: bigint = flakeid.fromBuffer(buffer);
// @ts-expect-error not a Buffer
flakeid.fromBuffer('00000000');
// @ts-expect-error a number is no ID
flakeid.toBuffer(1);
new flakeid.Generator({ node: 1 }).fill(BigUint64Array.of(id));
