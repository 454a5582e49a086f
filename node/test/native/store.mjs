// A store for one test: an SQLite file in a directory that is removed after the tests.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function storeDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'flakeid-leases-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export const urlOf = (directory) => `sqlite://${directory}/flakeid.db`;

export function assertUnique(ids) {
  ids.sort();
  for (let index = 1; index < ids.length; index += 1) {
    if (ids[index] === ids[index - 1]) throw new Error(`${ids[index]} was issued twice`);
  }
}
