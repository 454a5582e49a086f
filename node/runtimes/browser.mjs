import { init } from './init.mjs';

export default await init();
