'use strict';

// Defines public IDs. The keys are in the backend's memory, not in JavaScript objects.
function defineKeyed(backend, checks, layoutOf) {
  class PublicIds {
    #ids;
    #layout;

    constructor(keyring, domain, options = {}) {
      const { layout, prefix, since } = checks.record(options, 'options');
      this.#layout = layoutOf(layout);
      this.#ids = backend.createPublicIds(
        checks.text(keyring, 'keyring'),
        checks.text(domain, 'domain'),
        this.#layout.descriptor,
        prefix === undefined ? undefined : checks.text(prefix, 'prefix'),
        since === undefined ? undefined : checks.instant(since, 'since'),
      );
    }

    seal(id) {
      return backend.sealId(this.#ids, checks.id(id));
    }

    sealBits(id) {
      return backend.sealIdBits(this.#ids, checks.id(id));
    }

    open(text, { now } = {}) {
      return backend.openPublicId(
        this.#ids,
        checks.text(text, 'text'),
        now === undefined ? undefined : checks.instant(now, 'now'),
      );
    }

    get layout() {
      return this.#layout;
    }
  }

  return { PublicIds };
}

module.exports = { defineKeyed };
