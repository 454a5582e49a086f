// The panel with the smallest and the largest ID of a time range, and the SQL to paste.

import { attempt, copy, field, h, input, mono, table } from '../dom.js';
import { bind, loadAll } from '../state.js';

export const name = 'range';
export const title = 'Time range';

export function make(page) {
  const from = input({ placeholder: '2026-01-01' });
  const to = input({ placeholder: '2026-01-31T23:59:59.999Z' });
  const column = input({});
  const error = h('p', { class: 'error', role: 'alert' });
  const warnings = h('div', { class: 'warnings', 'aria-live': 'polite' });
  const summary = h('p', { class: 'hint', role: 'status' });
  const result = h('div', {});
  const show = () => {
    for (const place of [warnings, summary, result]) place.replaceChildren();
    error.textContent = '';
    const isEmpty = from.value.trim() === '' && to.value.trim() === '';
    if (isEmpty || page.described() === undefined) return;
    const range = attempt(error, () =>
      JSON.parse(page.core.bounds(page.layout(), from.value, to.value, column.value || 'id')),
    );
    if (range === undefined) return;
    warnings.append(...range.warnings.map((text) => h('p', {}, `Warning: ${text}.`)));
    summary.textContent = headline(range);
    result.append(...shown(range));
  };
  const loads = [
    bind(from, 'from', '', show),
    bind(to, 'to', '', show),
    bind(column, 'column', 'id', show),
  ];
  const element = h(
    'div',
    {},
    h(
      'p',
      { class: 'hint' },
      'A date (midnight UTC), an RFC 3339 time, or Unix milliseconds. One end may be empty. Both ends belong to the range.',
    ),
    h('div', { class: 'row' }, field('From', from), field('To', to), field('Column', column)),
    error,
    warnings,
    summary,
    result,
  );
  return { element, show: () => loadAll(loads), layoutChanged: show };
}

function headline({ lower, upper }) {
  if (upper === null) return `IDs from ${lower}`;
  if (lower === null) return `IDs up to ${upper}`;
  return `IDs from ${lower} to ${upper}, both inclusive`;
}

function shown(range) {
  const ends = [
    ['lower', range.lower, range.from],
    ['upper', range.upper, range.to],
  ].filter(([, id]) => id !== null);
  // The tick is below the ID, because a phone is too narrow for both.
  const rows = ends.map(([end, id, tick]) => [
    end,
    mono(id, h('div', { class: 'hint' }, tick)),
    copy(id, `the ${end} bound`),
  ]);
  return [
    table('Bounds', rows, ['End', 'ID and its tick', '']),
    h('h3', {}, 'In SQL'),
    h('pre', { tabindex: '0', 'aria-label': 'In SQL' }, range.condition),
    copy(range.condition, 'the SQL'),
  ];
}
