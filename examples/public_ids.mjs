// Creates the public form of an ID, and opens it again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { Generator, PublicIds } from 'flakeid-core';

const keyring = readFileSync('public.keys', 'utf8');
const users = new PublicIds(keyring, 'user', { prefix: 'usr', since: new Date('2026-01-01') });

const id = new Generator({ node: 7 }).nextId();
const text = users.seal(id); // usr_a…
assert.equal(users.open(text), id);
console.log(text);
