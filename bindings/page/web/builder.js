// A descriptor from the widths of its fields, which keep the order of the layout that they were loaded from.

import { field, h, input } from './dom.js';

// The usual order, from the most significant bit.
const LABELS = [
  ['t', 'Time bits'],
  ['d', 'Datacenter bits'],
  ['w', 'Worker bits'],
  ['n', 'Node bits'],
  ['c', 'Clock sequence bits'],
  ['s', 'Sequence bits'],
  ['r', 'Reserved bits'],
];

// The fields of a layout, and between them those that it does not have, with no bits: each after the one that usually
// precedes it.
function everyField(fields) {
  const all = fields.map(({ letter, bits }) => ({ letter, bits }));
  let before;
  for (const [letter] of LABELS) {
    if (!all.some((part) => part.letter === letter)) {
      all.splice(all.findIndex((part) => part.letter === before) + 1, 0, { letter, bits: 0 });
    }
    before = letter;
  }
  return all;
}

export function make(use) {
  const row = h('div', { class: 'row' });
  const epoch = input({});
  const unit = input({});
  const button = h('button', { type: 'button', class: 'main' }, 'Use these bits');
  let widths = [];
  button.addEventListener('click', () => {
    const fields = widths
      .filter(({ control }) => Number(control.value) !== 0)
      .map(({ letter, control }) => `${letter}${control.value}`);
    use(`${fields.join('.')}@${epoch.value.trim()}/${unit.value.trim()}`);
  });
  const load = (layout) => {
    widths = everyField(layout.fields).map(({ letter, bits }) => ({
      letter,
      control: input({ type: 'number', min: '0', max: '64', value: String(bits) }),
    }));
    const labels = new Map(LABELS);
    row.replaceChildren(...widths.map(({ letter, control }) => field(labels.get(letter), control)));
    epoch.value = layout.epoch;
    unit.value = `${layout.unit_ms}ms`;
  };
  const element = h(
    'div',
    {},
    h(
      'p',
      { class: 'hint' },
      'From the most significant bit, in the order of the layout above. A node is either one number, or datacenter and worker.',
    ),
    row,
    h('div', { class: 'row' }, field('Epoch', epoch), field('Tick, in ms or s', unit)),
    h('div', { class: 'actions' }, button),
  );
  return { element, load };
}
