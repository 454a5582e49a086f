// The panel for one ID, with its time, its node and its bits.

import { digits, draw, swatch } from '../bits.js';
import { attempt, copy, field, grouped, h, input, mono, table } from '../dom.js';
import { bind, loadAll } from '../state.js';

const EXAMPLE = '1050118621198921728';

export const name = 'id';
export const title = 'One ID';

export function make(page) {
  const id = input({ class: 'large', inputmode: 'text', placeholder: EXAMPLE });
  const form = h('select', {}, ...page.forms.map((text) => h('option', { value: text }, text)));
  const error = h('p', { class: 'error', role: 'alert' });
  const other = h('p', { class: 'hint', 'aria-live': 'polite' });
  const time = h('p', { class: 'big', 'aria-live': 'polite' });
  const result = h('div', {});
  // The ID comes first, and the layout below it.
  const layoutPlace = h('div', {});

  const show = () => {
    time.textContent = '';
    other.textContent = '';
    result.replaceChildren();
    id.removeAttribute('aria-invalid');
    const text = id.value.trim();
    if (text === '') {
      error.textContent = '';
      const example = h(
        'button',
        { type: 'button', onclick: () => fill(EXAMPLE) },
        `Show ${EXAMPLE}`,
      );
      result.append(h('div', { class: 'actions' }, example));
      return;
    }
    const identifier = page.core.identify(text);
    if (identifier !== '') other.textContent = `This is ${identifier}.`;
    const layout = page.described();
    if (layout === undefined) return;
    const found = attempt(error, () =>
      JSON.parse(page.core.inspect(text, form.value, page.layout())),
    );
    if (found === undefined) id.setAttribute('aria-invalid', 'true');
    else {
      time.textContent = found.timestamp;
      result.append(...shown(found, layout));
    }
  };
  const fill = (text) => {
    id.value = text;
    id.dispatchEvent(new Event('input'));
    id.focus();
  };
  const loads = [bind(id, 'id', '', show), bind(form, 'form', 'decimal', show)];
  const element = h(
    'div',
    {},
    h('div', { class: 'row first-wide' }, field('ID', id), field('Written as', form)),
    h(
      'p',
      { class: 'hint' },
      'Decimal IDs can also be hexadecimal with 0x, negative numbers of signed columns, or UUIDs.',
    ),
    layoutPlace,
    error,
    other,
    time,
    result,
  );
  return { element, layoutPlace, show: () => loadAll(loads), layoutChanged: show };
}

function shown(id, layout) {
  const values = { time: id.tick, ...id };
  const rows = layout.fields.map((part) => {
    const label = h('span', {}, swatch(part), part.name.replace('_', ' '));
    return [
      label,
      mono(String(values[part.name] ?? 0)),
      `${part.bits} bits, to ${grouped(part.max)}`,
    ];
  });
  const worker = layout.fields.find(({ name }) => name === 'worker');
  const hasDatacenter = layout.fields.some(({ name }) => name === 'datacenter');
  if (worker !== undefined && hasDatacenter) {
    const sum = `datacenter × ${2 ** worker.bits} + worker: the number of leases and of whois`;
    rows.push(['node', mono(String(id.node)), sum]);
  }
  const forms = ['hex', 'base32', 'base36', 'base58', 'base62', 'base58_flickr', 'zbase32', 'uuid'];
  const others = forms.map((name) => [name, mono(id[name]), copy(id[name], name)]);
  return [
    h('p', { class: 'hint' }, `${grouped(id.unix_ms)} ms since 1970; ${relativeTime(id.unix_ms)}`),
    draw(layout, digits(id.id)),
    table('Fields', rows, ['Field', 'Value', 'Size']),
    h('h3', {}, 'Other text forms'),
    table('Text forms', [['decimal', mono(id.id), copy(id.id, 'decimal')], ...others]),
  ];
}

const STEPS = [
  ['year', 31_557_600_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

function relativeTime(unixMs) {
  const distance = Date.now() - unixMs;
  const [unit, length] = STEPS.find(([, ms]) => Math.abs(distance) >= ms) ?? STEPS.at(-1);
  const count = Math.floor(Math.abs(distance) / length);
  const text = `${grouped(count)} ${unit}${count === 1 ? '' : 's'}`;
  return distance < 0 ? `in ${text}` : `${text} ago`;
}
