// A form that builds a descriptor from the widths of fields. They keep the order of the loaded
// layout.

import { field, h, input } from './dom.js';

// The fields in their default order, from the most significant bit.
const LABELS = [
  ['t', 'Time bits'],
  ['d', 'Datacenter bits'],
  ['w', 'Worker bits'],
  ['n', 'Node bits'],
  ['c', 'Clock sequence bits'],
  ['s', 'Sequence bits'],
  ['r', 'Reserved bits'],
];

// Returns the fields of a layout. Fields that it does not have are inserted with 0 bits, each after
// its predecessor in the default order.
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
      'The fields start at the most significant bit, in the order of the layout above. A node is either one number, or a datacenter and a worker.',
    ),
    row,
    h('div', { class: 'row' }, field('Epoch', epoch), field('Tick, in ms or s', unit)),
    h('div', { class: 'actions' }, button),
  );
  return { element, load };
}
