'use strict';

const { FlakeIdError } = require('./error.js');

function defineOptions(checks, layoutOf) {
  // What the backend takes: numbers and instants as decimal text, a layout as its descriptor.
  function textsOf(options, { numbers, texts, others }) {
    const found = plainTextsOf(options, { numbers, texts, others: ['layout', 'epoch', ...others] });
    const { layout, epoch } = options;
    if (layout !== undefined) found.layout = layoutOf(layout).descriptor;
    if (epoch !== undefined) found.epoch = `${checks.instant(epoch, 'epoch')}`;
    return found;
  }

  // The same where there is no layout to choose.
  function plainTextsOf(options, { numbers, texts = [], others = [] }) {
    checks.record(options, 'options');
    // A misspelt option that is passed over is an ID from the wrong node or layout.
    const known = [...numbers, ...texts, ...others];
    for (const name of Object.keys(options)) {
      if (!known.includes(name)) {
        throw new FlakeIdError(
          'FLAKEID_INVALID_OPTION',
          `${name}: no such option; there are ${known.join(', ')}`,
        );
      }
    }
    const found = {};
    for (const name of numbers) {
      const value = options[name];
      if (value !== undefined) found[name] = `${checks.whole(value, name)}`;
    }
    for (const name of texts) {
      const value = options[name];
      if (value !== undefined) found[name] = checks.text(value, name);
    }
    return found;
  }

  return { textsOf, plainTextsOf };
}

module.exports = { defineOptions };
