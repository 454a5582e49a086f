'use strict';

const { IdText } = require('./shared.js');

// Uses the caller's copy of zod, because a program may load it as a CommonJS and as an ES module.
function defineZod(z) {
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

  return { flakeId };
}

module.exports = { defineZod };
