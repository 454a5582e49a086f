// The same page for esbuild, whose loader `file` copies the WebAssembly file and returns its address.

import file from 'flakeid-wasm/flakeid_lease.wasm';
import { init } from 'flakeid-wasm/lease/init';

const { Generator } = await init(file);
const generator = await Generator.lease('https://ids.example', { namespace: 'pages' });
document.body.textContent = `${await generator.nextIdAsync()}`;
