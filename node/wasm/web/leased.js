// The entry with leases, which loads the module like index.js.

import { init } from './leased-init.js';

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
