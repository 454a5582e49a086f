// Guesses the system that generated IDs.

import { attempt, field, grouped, h, mono, table } from '../dom.js';
import { bind } from '../state.js';

export const name = 'guess';
export const title = 'Which system?';

// The largest number of IDs that are evaluated. More IDs are slow and do not improve the guess.
const MOST = 1000;
// The largest number of IDs in the address, because many programs cut longer links.
const MOST_IN_ADDRESS = 100;

// Returns the text up to the end of its ID number `most`, and whether more IDs follow.
function beginning(text, most) {
  const word = /\S+/g;
  for (let count = 0; count < most; count += 1) if (word.exec(text) === null) return [text, false];
  const end = word.lastIndex;
  return [text.slice(0, end), word.test(text)];
}

export function make(page) {
  const ids = h('textarea', { rows: '5', spellcheck: 'false', autocapitalize: 'none' });
  const error = h('p', { class: 'error', role: 'alert' });
  const summary = h('p', { class: 'big', 'aria-live': 'polite' });
  const limit = h('p', { class: 'hint', role: 'status' });
  const result = h('div', {});
  const limited = (isMore) => {
    limit.textContent = isMore ? `Only the first ${grouped(MOST)} IDs were evaluated.` : '';
  };
  const show = () => {
    error.textContent = '';
    const [evaluated, isMore] = beginning(ids.value, MOST);
    const guesses = attempt(error, () =>
      JSON.parse(page.core.guess(evaluated, 'decimal', Date.now())),
    );
    limited(isMore);
    summary.textContent = headline(guesses ?? []);
    result.replaceChildren(...shown(guesses ?? [], page));
  };
  const load = bind(ids, 'ids', '', show, (text) => beginning(text, MOST_IN_ADDRESS)[0]);
  // A text field with millions of lines slows browsers down.
  ids.addEventListener('paste', (event) => {
    const [evaluated, isMore] = beginning(event.clipboardData.getData('text/plain'), MOST);
    if (!isMore) return;
    event.preventDefault();
    ids.value = evaluated;
    ids.dispatchEvent(new Event('input'));
    limited(true);
  });
  const element = h(
    'div',
    {},
    field('IDs', ids),
    h(
      'p',
      { class: 'hint' },
      'Paste one ID per line. Several IDs of the same system make the guess more certain.',
    ),
    error,
    summary,
    limit,
    result,
  );
  return { element, show: load };
}

function shown(guesses, page) {
  const fitting = guesses.filter((guess) => guess.reason === undefined);
  const rows = fitting.map((guess) => {
    const use = h(
      'button',
      { type: 'button', class: 'copy', 'aria-label': `Use the layout ${guess.layout}` },
      'Use',
    );
    use.addEventListener('click', () => page.setLayout(guess.layout));
    const behind = guess.bits - fitting[0].bits;
    let remark = 'likeliest';
    if (behind > 0)
      remark = guess.likely
        ? `2^${grouped(behind)} times less likely than the best match`
        : `unlikely: 2^${grouped(Math.round(behind))} times less likely, mainly because of the ${guess.weakness}`;
    const time = guess.first === guess.last ? guess.first : `${guess.first} to ${guess.last}`;
    return [guess.layout, mono(time), remark, use];
  });
  const others = guesses.filter((guess) => guess.reason !== undefined);
  const parts = [];
  if (rows.length > 0)
    parts.push(table('Layouts that fit', rows, ['Layout', 'Generated at', '', '']));
  if (others.length > 0) {
    parts.push(h('h3', {}, 'Layouts that do not fit'));
    parts.push(
      table(
        'Layouts that do not fit',
        others.map((guess) => [guess.layout, guess.reason]),
      ),
    );
  }
  return parts;
}

function headline(guesses) {
  if (guesses.length === 0) return '';
  const likely = guesses.filter((guess) => guess.likely).map((guess) => guess.layout);
  if (likely.length === 0) return 'No preset fits.';
  if (likely.length === 1) return likely[0];
  return `${likely.slice(0, -1).join(', ')} or ${likely.at(-1)}`;
}
