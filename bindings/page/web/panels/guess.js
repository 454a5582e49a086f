// Whose IDs are these?

import { attempt, field, grouped, h, mono, table } from '../dom.js';
import { bind } from '../state.js';

export const name = 'guess';
export const title = 'Which system?';

// More than so many tell no more, and take the page's time.
const MOST = 1000;
// In the address; longer ones are cut by those whom they are sent to.
const MOST_IN_ADDRESS = 100;

// What a text begins with, up to the end of its `most`th ID, and whether more IDs follow.
function beginning(text, most) {
  const word = /\S+/g;
  for (let count = 0; count < most; count += 1) if (word.exec(text) === null) return [text, false];
  const end = word.lastIndex;
  return [text.slice(0, end), word.test(text)];
}

export function make(page) {
  const ids = h('textarea', { rows: '5', spellcheck: 'false', autocapitalize: 'none' });
  const error = h('p', { class: 'error', role: 'alert' });
  const said = h('p', { class: 'big', 'aria-live': 'polite' });
  const limit = h('p', { class: 'hint', role: 'status' });
  const result = h('div', {});
  const limited = (isMore) => {
    limit.textContent = isMore ? `Only the first ${grouped(MOST)} IDs were looked at.` : '';
  };
  const show = () => {
    error.textContent = '';
    const [looked, isMore] = beginning(ids.value, MOST);
    const guesses = attempt(error, () =>
      JSON.parse(page.core.guess(looked, 'decimal', Date.now())),
    );
    limited(isMore);
    said.textContent = headline(guesses ?? []);
    result.replaceChildren(...shown(guesses ?? [], page));
  };
  const load = bind(ids, 'ids', '', show, (text) => beginning(text, MOST_IN_ADDRESS)[0]);
  // A text field with millions of lines makes browsers slow.
  ids.addEventListener('paste', (event) => {
    const [looked, isMore] = beginning(event.clipboardData.getData('text/plain'), MOST);
    if (!isMore) return;
    event.preventDefault();
    ids.value = looked;
    ids.dispatchEvent(new Event('input'));
    limited(true);
  });
  const element = h(
    'div',
    {},
    field('IDs', ids),
    h('p', { class: 'hint' }, 'One in each line. Several of one system tell more than one.'),
    error,
    said,
    limit,
    result,
  );
  return { element, show: load };
}

function shown(guesses, page) {
  const can = guesses.filter((guess) => guess.reason === undefined);
  const rows = can.map((guess) => {
    const use = h(
      'button',
      { type: 'button', class: 'copy', 'aria-label': `Use the layout ${guess.layout}` },
      'Use',
    );
    use.addEventListener('click', () => page.setLayout(guess.layout));
    const behind = guess.bits - can[0].bits;
    let remark = 'likeliest';
    if (behind > 0)
      remark = guess.likely
        ? `${grouped(behind)} bits less likely`
        : `unlikely: ${grouped(Math.round(behind))} bits, most for the ${guess.weakness}`;
    const time = guess.first === guess.last ? guess.first : `${guess.first} to ${guess.last}`;
    return [guess.layout, mono(time), remark, use];
  });
  const others = guesses.filter((guess) => guess.reason !== undefined);
  const parts = [];
  if (rows.length > 0) parts.push(table('Layouts that fit', rows, ['Layout', 'Then made', '', '']));
  if (others.length > 0) {
    parts.push(h('h3', {}, 'Why not the others'));
    parts.push(
      table(
        'Why not the others',
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
