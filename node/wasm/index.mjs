import flakeid from './index.js';

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
  toBytes,
  fromBytes,
  jsonReplacer,
  jsonReviver,
  PublicIds,
  version,
} = flakeid;

export default flakeid;
