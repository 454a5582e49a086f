// Elements, with as few words as possible.

// h('p', { class: 'hint' }, 'text', otherElement)
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  set(element, attributes);
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (typeof value === 'boolean') element.toggleAttribute(name, value);
    else if (value !== undefined) element.setAttribute(name, value);
  }
}

export function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  set(element, attributes);
  element.append(...children);
  return element;
}

let fields = 0;

// A control under its label. Returns both, and an element that is both.
export function field(text, control) {
  fields += 1;
  control.id ||= `field-${fields}`;
  return h('div', {}, h('label', { for: control.id }, text), control);
}

export function input(attributes) {
  return h('input', {
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    ...attributes,
  });
}

// A table of rows `[heading, value …]`; a value is text or an element.
export function table(caption, rows, headings) {
  const over = (text) => (text === '' ? h('td', {}) : h('th', { scope: 'col' }, text));
  const head = headings && h('thead', {}, h('tr', {}, ...headings.map(over)));
  const body = rows.map(([heading, ...cells]) =>
    h('tr', {}, h('th', { scope: 'row' }, heading), ...cells.map(cell)),
  );
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption },
    h('table', { 'aria-label': caption }, head, h('tbody', {}, ...body)),
  );
}

function cell(value) {
  return value instanceof HTMLTableCellElement ? value : h('td', {}, value);
}

export const mono = (text) => h('td', { class: 'mono' }, text);

// A button that copies `text` and says so.
export function copy(text, what) {
  const button = h(
    'button',
    { type: 'button', class: 'copy', 'aria-label': `Copy ${what}` },
    'Copy',
  );
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  return button;
}

// 1234567 as 1,234,567, whatever the language of the browser: the page is in English.
export const grouped = (number) =>
  Number(number).toLocaleString('en-US', { maximumFractionDigits: 2 });

// What the module throws is a text `CODE: message`; anything else is a fault of the page.
export function message(error) {
  if (typeof error === 'string') return error;
  throw error;
}

// Runs `work`; shows what is wrong with the input instead, if something is.
export function attempt(place, work) {
  try {
    place.textContent = '';
    return work();
  } catch (error) {
    place.textContent = message(error);
    return undefined;
  }
}
