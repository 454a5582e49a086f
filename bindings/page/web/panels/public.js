// Public IDs. The key is in the memory of the page, and goes with it.

import { attempt, copy, field, h, input } from '../dom.js';

export const name = 'public';
export const title = 'Public IDs';

const KEY_BYTES = 16;

export function make(page) {
  const key = h('textarea', {
    rows: '3',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    placeholder: 'a 00112233445566778899aabbccddeeff',
  });
  const domain = input({ value: 'user' });
  const prefix = input({ placeholder: 'usr' });
  const id = input({});
  const text = input({});
  const error = h('p', { class: 'error', role: 'alert' });
  const result = h('output', { class: 'big mono', 'aria-live': 'polite' });
  const place = h('div', {}, result);

  const run = (work, what) => {
    place.replaceChildren(result);
    result.textContent = '';
    const answer = attempt(error, work);
    if (answer === undefined) return;
    result.textContent = answer;
    place.append(' ', copy(answer, what));
  };
  const setup = () => [key.value.trim(), domain.value, page.layout(), prefix.value];
  const renew = h('button', { type: 'button' }, 'New key');
  renew.addEventListener('click', () => {
    const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    key.value = `a ${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  });
  const seal = h('button', { type: 'button', class: 'main' }, 'Make it public');
  seal.addEventListener('click', () =>
    run(() => page.core.seal(...setup(), id.value), 'the public ID'),
  );
  const open = h('button', { type: 'button', class: 'main' }, 'Open it');
  open.addEventListener('click', () =>
    run(() => page.core.open(...setup(), text.value, Date.now()), 'the ID'),
  );
  const element = h(
    'div',
    {},
    h(
      'p',
      { class: 'hint' },
      'An ID tells its time and its node. Encrypted with a key it tells nothing, and who has the key gets it back. It hides; it does not authorise.',
    ),
    field('Keys: a letter and 32 hexadecimal digits in each line', key),
    h('div', { class: 'actions' }, renew),
    h(
      'div',
      { class: 'row' },
      field('Domain: what the IDs are of', domain),
      field('Prefix', prefix),
    ),
    h(
      'div',
      { class: 'row' },
      h('div', {}, field('ID', id), h('div', { class: 'actions' }, seal)),
      h('div', {}, field('Public ID', text), h('div', { class: 'actions' }, open)),
    ),
    error,
    place,
  );
  return { element };
}
