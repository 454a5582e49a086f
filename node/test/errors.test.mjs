import { test } from 'node:test';

import { checkErrors } from './errors.mjs';
import flakeid from './subject.mjs';
import { load } from './vectors.mjs';

test('errors match the error table', () => {
  checkErrors(flakeid, load('errors'));
});
