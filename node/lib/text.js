'use strict';

const { FlakeIdError, wrongType } = require('./error.js');

const FORMS = [
  ...['decimal', 'base32', 'base36', 'base58', 'base62'],
  ...['hex', 'base58_flickr', 'zbase32', 'uuid'],
];

function defineText(backend, checks) {
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

  // Some runtimes do not have Buffers.
  function toBuffer(id) {
    const bytes = toBytes(id);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  function fromBuffer(buffer) {
    if (!Buffer.isBuffer(buffer)) throw wrongType('buffer', 'a Buffer of 8 bytes', buffer);
    return fromBytes(buffer);
  }

  // Writes IDs as strings, because JSON has no bigints and its numbers lose digits.
  function jsonReplacer(_key, value) {
    return typeof value === 'bigint' ? value.toString() : value;
  }

  // Reads IDs only under the given keys, because other strings of digits look like IDs. Numbers
  // under these keys are rejected, because they have already lost their last digits.
  function jsonReviver(...keys) {
    for (const key of keys) checks.text(key, 'key');
    return (key, value) =>
      keys.includes(key) && ['string', 'number'].includes(typeof value)
        ? checks.id(value, key)
        : value;
  }

  const forms = {};
  for (const form of FORMS) {
    const name = form.replace(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase());
    forms[`to${name}`] = (id) => backend.encodeText(form, checks.id(id));
    forms[`from${name}`] = (text) => backend.decodeText(form, checks.text(text, 'text'));
  }
  return { ...forms, toBytes, fromBytes, toBuffer, fromBuffer, jsonReplacer, jsonReviver };
}

module.exports = { defineText };
