'use strict';

const { FlakeIdError, wrongType } = require('./error.js');

function camelCase(name) {
  return name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
}

function defineOptions(checks, layoutOf) {
  // Functions that convert a value of each of the core's kinds to a string.
  const texts = {
    number: (value, name) => `${checks.whole(value, name)}`,
    text: checks.text,
    flag(value, name) {
      if (typeof value === 'boolean') return `${value}`;
      throw wrongType(name, 'a boolean', value);
    },
    numbers(value, name) {
      if (!Array.isArray(value)) throw wrongType(name, 'an array of numbers', value);
      return value.map((item, index) => `${checks.whole(item, `${name}[${index}]`)}`).join();
    },
  };

  // Returns the core's options ('name: kind, name: kind') by their names in JavaScript. The caller
  // handles `others`: each replaces the options whose names begin with it, as the core's window_start
  // and window_fence are fields of `window`.
  function readTable([described, others]) {
    const options = new Map();
    for (const option of described.split(', ')) {
      const [name, kind] = option.split(': ');
      if (!others.some((other) => name === other || name.startsWith(`${other}_`))) {
        options.set(camelCase(name), { name, text: texts[kind] });
      }
    }
    return { options, known: [...options.keys(), ...others] };
  }

  // Returns a function that returns the table of the options that `describe` returns with the others. The
  // table is read at the first call, because reading every table would delay the start of each program.
  function tableOf(describe) {
    let table;
    return () => {
      table ??= readTable(describe());
      return table;
    };
  }

  // Returns the arguments of the core's `set`: a name, its value as a string, the next name and so on.
  function settingsOf(given, table) {
    const { options, known } = table();
    checks.record(given, 'options');
    // Unknown options are rejected, because a misspelt one would lead to a wrong node or layout.
    for (const name of Object.keys(given)) {
      if (!known.includes(name)) {
        throw new FlakeIdError(
          'FLAKEID_INVALID_OPTION',
          `${name}: no such option; there are ${known.join(', ')}`,
        );
      }
    }
    const settings = [];
    for (const [key, { name, text }] of options) {
      const value = given[key];
      if (value !== undefined) settings.push(name, text(value, key));
    }
    return settings;
  }

  // Returns the options in the form that the backend expects, with the layout.
  function textsOf(given, table) {
    const settings = settingsOf(given, table);
    const { layout, epoch } = given;
    return {
      layout: layout === undefined ? undefined : layoutOf(layout).descriptor,
      epoch: epoch === undefined ? undefined : `${checks.instant(epoch, 'epoch')}`,
      settings,
    };
  }

  return { tableOf, settingsOf, textsOf };
}

module.exports = { defineOptions };
