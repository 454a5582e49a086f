// Rows of the vectors, and what is expected of them. Without anything that only Node has, because
// browsers run the loops over them too.

// Types are told apart, which JSON would not do.
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

// Lists must not be empty, because an empty loop checks nothing.
export function rows(value, key) {
  ok(Array.isArray(value[key]) && value[key].length > 0, `${key} is empty`);
  return value[key];
}

// Numbers are strings of digits in the vectors.
export function optional(row, key) {
  return row[key] === undefined || row[key] === null ? undefined : BigInt(row[key]);
}

export function number(row, key) {
  equal(typeof row[key], 'string', `${key} in ${JSON.stringify(row)}`);
  return BigInt(row[key]);
}

// The error of a call that must fail.
export function failure(call, place) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error(`${place}: no error`);
}

// The name of a field, which vectors have in snake case, as it is in JavaScript.
export function fieldOf(row) {
  return row.field?.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
}
