'use strict';

const { z } = require('zod');
const { IdText } = require('./shared.js');

function flakeId(options) {
  const text = new IdText(options);
  const outside = z
    .string({ error: ({ input }) => text.refusal(input) })
    .meta({ description: `a 64-bit ID, such as ${text.example}` });
  return z.codec(outside, z.bigint(), {
    decode: (value, context) => {
      try {
        return text.read(value);
      } catch (error) {
        context.issues.push({ code: 'custom', message: error.message, input: value });
        return z.NEVER;
      }
    },
    encode: (id) => text.write(id),
  });
}

module.exports = { flakeId };
