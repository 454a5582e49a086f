// Node loads the package at once, and must not load it twice.

import flakeid from 'flakeid-core';

export async function init() {
  return flakeid;
}
