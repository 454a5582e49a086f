// A layout: its bits, what it holds, and how long it lasts; and a builder of descriptors.

import { draw, swatch } from '../bits.js';
import { field, grouped, h, input, table } from '../dom.js';

export const name = 'layout';
export const title = 'Layout';

const WIDTHS = [
  ['t', 'Time bits', 41],
  ['d', 'Datacenter bits', 0],
  ['w', 'Worker bits', 0],
  ['n', 'Node bits', 10],
  ['s', 'Sequence bits', 12],
];

export function make(page) {
  const result = h('div', { 'aria-live': 'polite' });
  const widths = WIDTHS.map(([letter, label, bits]) => {
    const control = input({ type: 'number', min: '0', max: '64', value: String(bits) });
    return { letter, control, element: field(label, control) };
  });
  const epoch = input({ value: '2020-01-01T00:00:00Z' });
  const unit = input({ value: '1ms' });
  const use = h('button', { type: 'button', class: 'main' }, 'Use these bits');
  use.addEventListener('click', () => {
    const fields = widths
      .filter(({ control }) => Number(control.value) !== 0)
      .map(({ letter, control }) => `${letter}${control.value}`);
    page.setLayout(`${fields.join('.')}@${epoch.value.trim()}/${unit.value.trim()}`);
  });

  const show = () => {
    const layout = page.described();
    result.replaceChildren(...(layout === undefined ? [] : shown(layout)));
  };
  // The builder begins with the layout that is shown.
  const load = () => {
    const layout = page.described();
    if (layout !== undefined) {
      for (const { letter, control } of widths) {
        control.value = String(layout.fields.find((part) => part.letter === letter)?.bits ?? 0);
      }
      epoch.value = layout.epoch;
      unit.value = `${layout.unit_ms}ms`;
    }
    show();
  };
  const element = h(
    'div',
    {},
    result,
    h('h3', {}, 'Build another'),
    h(
      'p',
      { class: 'hint' },
      'From the most significant bit. A node is either one number, or datacenter and worker.',
    ),
    h('div', { class: 'row' }, ...widths.map((width) => width.element)),
    h('div', { class: 'row' }, field('Epoch', epoch), field('Tick, in ms or s', unit)),
    h('div', { class: 'actions' }, use),
  );
  return { element, show: load, layoutChanged: load };
}

function shown(layout) {
  const fields = layout.fields.map((part) => [
    h('span', {}, swatch(part), part.name.replace('_', ' ')),
    `${part.bits} bits`,
    `0 to ${grouped(part.max)}`,
  ]);
  const chances = layout.random_nodes;
  const rows = [
    ['Descriptor', h('code', {}, layout.descriptor)],
    [
      'Capacity',
      `${grouped(layout.ids_per_second)} IDs a second for each node, ${grouped(layout.ids_per_tick)} in a tick`,
    ],
    ['Nodes', `${grouped(layout.nodes)}, each given to one process at a time`],
    [
      'Nodes chosen at random',
      `two processes share one with a chance of 1 in 1,000 from ${grouped(chances.thousandth + 1)} processes on, `
        + `1 in 100 from ${grouped(chances.hundredth + 1)}, 1 in 2 from ${grouped(chances.half + 1)}`,
    ],
    ['Epoch', layout.epoch],
    ['Ticks', `of ${grouped(layout.unit_ms)} ms`],
    ['Horizon', layout.horizon],
    [
      'Signed 64 bits',
      layout.fits_i64_until === layout.horizon
        ? 'always positive'
        : `positive until ${layout.fits_i64_until}`,
    ],
    ['JavaScript numbers', layout.js_safe ? 'exact' : 'not exact: BigInt or strings'],
    ['Makes IDs now', layout.can_generate ? 'yes' : `no: ${layout.obstacle}`],
  ];
  return [
    draw(layout),
    table('Fields', fields),
    h('h3', {}, 'What it holds'),
    table('What it holds', rows),
  ];
}
