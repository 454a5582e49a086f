'use strict';

const { conditions, fromColumn } = require('./shared.js');

// Converts the strings that drivers return for columns of 64 bits, which Kysely passes on unchanged.
class FlakeIdPlugin {
  #columns;

  constructor({ columns }) {
    this.#columns = columns;
  }

  transformQuery({ node }) {
    return node;
  }

  async transformResult({ result }) {
    return { ...result, rows: result.rows.map((row) => this.#converted(row)) };
  }

  #converted(row) {
    const converted = { ...row };
    for (const column of this.#columns) {
      const value = row[column];
      if (value !== undefined && value !== null) converted[column] = fromColumn(value);
    }
    return converted;
  }
}

function createdBetween(eb, column, bounds) {
  const compare = (operator) => (id) => eb(column, operator, id);
  return eb.and(conditions(compare('>='), compare('<'), bounds));
}

module.exports = { FlakeIdPlugin, createdBetween };
