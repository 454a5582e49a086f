'use strict';

function defineLocal({ Generator, handleOf }) {
  class LocalGenerator {
    #generator;
    #share;

    constructor(generator) {
      this.#share = handleOf(generator).local();
      this.#generator = generator;
    }

    nextId() {
      return this.#share.nextId();
    }

    tryNextId() {
      return this.#share.tryNextId();
    }

    get generator() {
      return this.#generator;
    }

    *[Symbol.iterator]() {
      for (;;) yield this.#share.nextId();
    }
  }

  Object.defineProperty(Generator.prototype, 'local', {
    value: function local() {
      return new LocalGenerator(this);
    },
    configurable: true,
    writable: true,
  });

  return { LocalGenerator };
}

module.exports = { defineLocal };
