// The same page for esbuild, whose loader `file` copies the WebAssembly files and returns their addresses.

import core from 'flakeid-core/flakeid.wasm';
import leases from 'flakeid-core/flakeid_lease.wasm';
import { init } from 'flakeid-core/init';

const { Generator } = await init(core, leases);
const generator = await Generator.lease('https://ids.example', { namespace: 'pages' });
document.body.textContent = `${await generator.nextIdAsync()}`;
