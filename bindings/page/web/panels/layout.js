// The panel for a layout, with its bits, its capacity and its end, and a builder of descriptors.

import { draw, swatch } from '../bits.js';
import { make as makeBuilder } from '../builder.js';
import { grouped, h, table } from '../dom.js';

export const name = 'layout';
export const title = 'Layout';

export function make(page) {
  // The layout field announces changes.
  const result = h('div', {});
  const builder = makeBuilder((descriptor) => page.setLayout(descriptor));

  const show = () => {
    const layout = page.described();
    result.replaceChildren(...(layout === undefined ? [] : shown(layout)));
  };
  // The builder starts with the layout that is shown.
  const load = () => {
    const layout = page.described();
    if (layout !== undefined) builder.load(layout);
    show();
  };
  const element = h('div', {}, result, h('h3', {}, 'Build another'), builder.element);
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
      `${grouped(layout.ids_per_second)} IDs per second for each node, ${grouped(layout.ids_per_tick)} per tick`,
    ],
    ['Nodes', `${grouped(layout.nodes)}, each for one process at a time`],
    [
      'Nodes chosen at random',
      `two processes have the same node with a chance of 1 in 1,000 from ${grouped(chances.thousandth + 1)} processes, `
        + `1 in 100 from ${grouped(chances.hundredth + 1)}, 1 in 2 from ${grouped(chances.half + 1)}`,
    ],
    ['Epoch', layout.epoch],
    ['Length of a tick', `${grouped(layout.unit_ms)} ms`],
    ['End', layout.horizon],
    [
      'Signed 64 bits',
      layout.fits_i64_until === layout.horizon
        ? 'always positive'
        : `positive until ${layout.fits_i64_until}`,
    ],
    [
      'JavaScript numbers',
      layout.js_safe
        ? 'represent every ID exactly'
        : 'cannot represent every ID exactly: use BigInt or strings',
    ],
    ['Can generate now', layout.can_generate ? 'yes' : `no: ${layout.obstacle}`],
  ];
  return [
    draw(layout),
    table('Fields', fields),
    h('h3', {}, 'Capacity and limits'),
    table('Capacity and limits', rows),
  ];
}
