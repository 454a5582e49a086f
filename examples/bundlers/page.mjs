// A page that leases its node.

import { Generator } from 'flakeid-core';

const generator = await Generator.lease('https://ids.example', { namespace: 'pages' });
document.body.textContent = `${await generator.nextIdAsync()}`;
