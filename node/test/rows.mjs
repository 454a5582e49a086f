// Rows of the test vectors and comparisons with them. This file uses nothing that only Node has,
// because browsers run the loops over the vectors too.

// Shows values with their types, which JSON would not distinguish.
function shown(value) {
  return JSON.stringify(value, (_key, part) => {
    if (typeof part === 'bigint') return { bigint: `${part}` };
    return part === undefined ? { undefined: true } : part;
  });
}

export function equal(actual, expected, place) {
  const [found, wanted] = [shown(actual), shown(expected)];
  if (found !== wanted) throw new Error(`${place}: ${found} is not ${wanted}`);
}

export function ok(value, place) {
  if (!value) throw new Error(place);
}

// Returns the rows of a list, which must not be empty, because an empty loop would check nothing.
export function rows(value, key) {
  ok(Array.isArray(value[key]) && value[key].length > 0, `${key} is empty`);
  return value[key];
}

// The vectors contain numbers as strings of digits.
export function optional(row, key) {
  return row[key] === undefined || row[key] === null ? undefined : BigInt(row[key]);
}

export function number(row, key) {
  equal(typeof row[key], 'string', `${key} in ${JSON.stringify(row)}`);
  return BigInt(row[key]);
}

// Returns the error of a call that must fail.
export function failure(call, place) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error(`${place}: no error`);
}

// Returns the JavaScript name of a field, which the vectors spell in snake case.
export function fieldOf(row) {
  return row.field?.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
}
