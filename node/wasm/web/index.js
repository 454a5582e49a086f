// The entry for browsers and bundlers, which loads the module before the importing module runs.

import { init } from './init.js';

const flakeid = await init();

export const {
  Generator,
  Layout,
  ManualClock,
  FlakeIdError,
  decode,
  lowerBound,
  upperBound,
  toDecimal,
  fromDecimal,
  toBase32,
  fromBase32,
  toBase36,
  fromBase36,
  toBase58,
  fromBase58,
  toBase62,
  fromBase62,
  toHex,
  fromHex,
  toBase58Flickr,
  fromBase58Flickr,
  toZbase32,
  fromZbase32,
  toUuid,
  fromUuid,
  toBytes,
  fromBytes,
  jsonReplacer,
  jsonReviver,
  PublicIds,
  version,
} = flakeid;

export default flakeid;
