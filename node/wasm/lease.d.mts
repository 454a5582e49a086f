export * from './lease.js';

import flakeid = require('./lease.js');
export default flakeid;
