export * from './index.js';

import flakeid = require('./index.js');
export default flakeid;
