// Whose IDs are these?

import { attempt, field, grouped, h, mono, table } from '../dom.js';
import { bind } from '../state.js';

export const name = 'guess';
export const title = 'Which system?';

export function make(page) {
  const ids = h('textarea', { rows: '5', spellcheck: 'false', autocapitalize: 'none' });
  const error = h('p', { class: 'error', role: 'alert' });
  const result = h('div', { 'aria-live': 'polite' });
  const show = () => {
    result.replaceChildren();
    if (ids.value.trim() === '') return;
    const guesses = attempt(error, () =>
      JSON.parse(page.core.guess(ids.value, 'decimal', Date.now())),
    );
    if (guesses !== undefined) result.append(...shown(guesses, page));
  };
  const load = bind(ids, 'ids', '', show);
  const element = h(
    'div',
    {},
    field('IDs', ids),
    h('p', { class: 'hint' }, 'One in each line. Several of one system tell more than one.'),
    error,
    result,
  );
  return { element, show: load };
}

function shown(guesses, page) {
  const can = guesses.filter((guess) => guess.reason === undefined);
  const likely = can.filter((guess) => guess.likely).map((guess) => guess.layout);
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
        : `unlikely: ${grouped(Math.round(behind))} bits`;
    const time = guess.first === guess.last ? guess.first : `${guess.first} to ${guess.last}`;
    return [guess.layout, mono(time), remark, use];
  });
  const others = guesses.filter((guess) => guess.reason !== undefined);
  const parts = [h('p', { class: 'big' }, said(likely))];
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

function said(likely) {
  if (likely.length === 0) return 'No preset fits.';
  if (likely.length === 1) return likely[0];
  return `${likely.slice(0, -1).join(', ')} or ${likely.at(-1)}`;
}
