'use strict';

// Adds methods and getters to a class. Some supported versions of Node and some browsers do not have the symbols for
// disposal, so their methods have the key `undefined`.
function define(target, members) {
  for (const name of Reflect.ownKeys(members)) {
    const member = Object.getOwnPropertyDescriptor(members, name);
    if (name !== 'undefined') Object.defineProperty(target, name, { ...member, enumerable: false });
  }
}

module.exports = { define };
