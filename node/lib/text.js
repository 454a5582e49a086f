'use strict';

const { FlakeIdError, wrongType } = require('./error.js');

function defineText(backend, checks) {
  const to = (form) => (id) => backend.encodeText(form, checks.id(id));
  const from = (form) => (text) => backend.decodeText(form, checks.text(text, 'text'));

  // Returns an ID as eight bytes, the most significant byte first, so that they sort in the order
  // of the IDs.
  function toBytes(id) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, checks.id(id));
    return bytes;
  }

  function fromBytes(bytes) {
    if (!(bytes instanceof Uint8Array)) throw wrongType('bytes', 'a Uint8Array of 8 bytes', bytes);
    if (bytes.length !== 8) {
      throw new FlakeIdError('FLAKEID_INVALID_ID', `an ID has 8 bytes, not ${bytes.length}`);
    }
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0);
  }

  return {
    toDecimal: to('decimal'),
    fromDecimal: from('decimal'),
    toBase32: to('base32'),
    fromBase32: from('base32'),
    toBase36: to('base36'),
    fromBase36: from('base36'),
    toBase58: to('base58'),
    fromBase58: from('base58'),
    toBase62: to('base62'),
    fromBase62: from('base62'),
    toHex: to('hex'),
    fromHex: from('hex'),
    toBase58Flickr: to('base58_flickr'),
    fromBase58Flickr: from('base58_flickr'),
    toZbase32: to('zbase32'),
    fromZbase32: from('zbase32'),
    toUuid: to('uuid'),
    fromUuid: from('uuid'),
    toBytes,
    fromBytes,
  };
}

module.exports = { defineText };
