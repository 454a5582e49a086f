// The 64 bits of an ID, coloured by field.

import { h } from './dom.js';

// The CSS classes that colour the fields.
const CLASSES = { 'clock sequence': 'clock', clock_sequence: 'clock', reserved: '' };

export const colour = (field) => CLASSES[field.name] ?? field.name;

export const swatch = (field) =>
  h('span', { class: `swatch ${colour(field)}`, 'aria-hidden': 'true' });

// Draws the bits. `bits` is a string of 64 digits, or undefined for a layout without an ID.
export function draw(layout, bits) {
  const cells = [];
  for (let place = 63; place >= 0; place -= 1) {
    const field = layout.fields.find(
      ({ shift, bits: width }) => place >= shift && place < shift + width,
    );
    const digit = bits === undefined ? (field?.letter ?? '0') : bits[63 - place];
    cells.push(h('span', { class: field === undefined ? '' : colour(field) }, digit));
  }
  const parts = layout.fields.map(
    ({ name, shift, bits: width }) => `${name}: bits ${shift + width - 1} to ${shift}`,
  );
  const label = `64 bits, the most significant first. ${parts.join('; ')}`;
  return h('div', { class: 'bits', role: 'img', 'aria-label': label }, ...cells);
}

// Returns the binary digits of an ID, which is a string, because a number would lose digits.
export const digits = (id) => BigInt(id).toString(2).padStart(64, '0');
