'use strict';

// Functions that the framework modules share, for IDs as strings, signed columns and time bounds.

const { FlakeIdError, PublicIds, lowerBound } = require('../index.js');
const { fromDecimal, fromUuid, toDecimal, toUuid } = require('../index.js');
const { show } = require('../lib/error.js');

// A key for a PublicIds object that only checks a prefix. The key need not be secret, because no ID
// is sealed with it.
const NO_KEY = `a ${'0'.repeat(32)}`;
const MOST_I64 = 2n ** 63n - 1n;
const UUID_LENGTH = 36;

const invalid = (message) => new FlakeIdError('FLAKEID_INVALID_ID', message);

class IdText {
  #start;
  #layout;
  #publicIds;

  constructor({ prefix, layout, publicIds } = {}) {
    if (publicIds !== undefined && (prefix !== undefined || layout !== undefined)) {
      throw new FlakeIdError(
        'FLAKEID_INVALID_OPTION',
        'publicIds: cannot be combined with prefix and layout; give them to PublicIds',
      );
    }
    // PublicIds checks the prefix, and accepts a layout in every form.
    const known = publicIds ?? new PublicIds(NO_KEY, 'prefix', { prefix, layout });
    this.#layout = known.layout;
    this.#start = prefix === undefined ? '' : `${prefix}_`;
    this.#publicIds = publicIds;
  }

  write(id) {
    return this.#publicIds?.seal(id) ?? this.#start + toDecimal(id);
  }

  read(text) {
    if (typeof text !== 'string') throw invalid(this.refusal(text));
    if (this.#publicIds !== undefined) return this.#publicIds.open(text);
    if (!text.startsWith(this.#start)) {
      const begin = `it must begin with '${this.#start}', as ${this.example} does`;
      throw invalid(`${show(text)} is not an ID here: ${begin}`);
    }
    const id = fromDecimal(text.slice(this.#start.length));
    this.#layout.unpack(id); // throws for bits that the layout never sets
    return id;
  }

  // Returns the reason why a value that is not a string cannot be an ID.
  refusal(value) {
    const refused = `an ID must be a string here, such as ${this.example}, not ${show(value)}`;
    if (typeof value !== 'number') return refused;
    return `${refused}: numbers of JSON lose their last digits, because 53 bits of 64 are kept`;
  }

  get example() {
    const id = this.#layout.pack({ tick: this.#layout.maxTick / 2n, node: 0 });
    return `'${this.write(id)}'`;
  }
}

// Returns an ID for a signed column of 64 bits, as digits, which every driver accepts.
function toColumn(id) {
  const digits = toDecimal(id);
  if (BigInt(digits) > MOST_I64) {
    throw invalid(
      `id ${digits} does not fit a signed column of 64 bits (at most ${MOST_I64}): give the column `
        + 'a type for unsigned or decimal numbers, or use a layout of 63 bits',
    );
  }
  return digits;
}

const isUuid = (value) => typeof value === 'string' && value.length === UUID_LENGTH;

// Returns an ID for a column of UUIDs. The UUID of an ID is returned in lowercase.
function toUuidColumn(id) {
  return toUuid(isUuid(id) ? fromUuid(id) : BigInt(toDecimal(id)));
}

// Returns the ID of a driver's value of a signed column of 64 bits, or of a column of UUIDs.
function fromColumn(value) {
  if (isUuid(value)) return fromUuid(value);
  if (typeof value === 'bigint' || typeof value === 'string') return fromDecimal(`${value}`);
  if (Number.isSafeInteger(value)) return fromDecimal(`${value}`);
  throw invalid(
    `the driver returned ${show(value)} for an ID, which has more bits than a number keeps: let it `
      + 'return columns of 64 bits as strings or bigints. If the query reads rows as JSON, give the '
      + 'driver parseJson of flakeid-core/json',
  );
}

// Returns the conditions on IDs created from `from` on and before `before`. The functions build them from bounds, which
// are bigints or UUIDs.
function conditions(atLeast, below, { from, before, layout, uuid = false } = {}) {
  const column = uuid ? toUuidColumn : (id) => BigInt(toColumn(id));
  const condition = (instant, compare) =>
    instant === undefined ? [] : [compare(column(lowerBound(instant, layout)))];
  return [...condition(from, atLeast), ...condition(before, below)];
}

module.exports = { IdText, conditions, fromColumn, toColumn, toUuidColumn };
