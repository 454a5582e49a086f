// A page that leases its node. Vite, webpack and Rollup find the WebAssembly file themselves.

import { Generator } from 'flakeid-wasm/lease';

const generator = await Generator.lease('https://ids.example', { namespace: 'pages' });
document.body.textContent = `${await generator.nextIdAsync()}`;
