// Public IDs. The key exists only in the memory of the page.

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
    const converted = attempt(error, work);
    if (converted === undefined) return;
    result.textContent = converted;
    place.append(' ', copy(converted, what));
  };
  const setup = () => [key.value.trim(), domain.value, page.layout(), prefix.value];
  const renew = h('button', { type: 'button' }, 'New key');
  renew.addEventListener('click', () => {
    const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    key.value = `a ${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  });
  const seal = h('button', { type: 'button', class: 'main' }, 'Encrypt');
  seal.addEventListener('click', () =>
    run(() => page.core.seal(...setup(), id.value), 'the public ID'),
  );
  const open = h('button', { type: 'button', class: 'main' }, 'Decrypt');
  open.addEventListener('click', () =>
    run(() => page.core.open(...setup(), text.value, Date.now()), 'the ID'),
  );
  const element = h(
    'div',
    {},
    h(
      'p',
      { class: 'hint' },
      'An ID reveals its time and its node. A public ID is an ID encrypted with a key: it reveals nothing, and only holders of the key can decrypt it. Encryption does not replace authorisation.',
    ),
    field('Keys: a letter and 32 hexadecimal digits per line', key),
    h('div', { class: 'actions' }, renew),
    h(
      'div',
      { class: 'row' },
      field('Domain: the kind of objects that the IDs identify', domain),
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
