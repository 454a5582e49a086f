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

// Says something to those who use a screen reader.
export function announce(text) {
  document.getElementById('said').textContent = text;
}

// What scrolls is a stop of the Tab key, so that the arrows can scroll it; what does not scroll is none.
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const place = target.closest('.scroll') ?? target;
    if (place.scrollWidth > place.clientWidth) place.tabIndex = 0;
    else place.removeAttribute('tabindex');
  }
});

// A table of rows `[heading, value …]`; a value is text or an element.
export function table(caption, rows, headings) {
  const over = (text) => (text === '' ? h('td', {}) : h('th', { scope: 'col' }, text));
  const head = headings && h('thead', {}, h('tr', {}, ...headings.map(over)));
  const body = rows.map(([heading, ...cells]) =>
    h('tr', {}, h('th', { scope: 'row' }, heading), ...cells.map(cell)),
  );
  const inside = h('table', { 'aria-label': caption }, head, h('tbody', {}, ...body));
  const place = h('div', { class: 'scroll', role: 'group', 'aria-label': caption }, inside);
  sizes.observe(place);
  sizes.observe(inside);
  return place;
}

function cell(value) {
  return value instanceof HTMLTableCellElement ? value : h('td', {}, value);
}

export const mono = (text) => h('td', { class: 'mono' }, text);

// Whether it came into the clipboard. Over plain HTTP, browsers have only the old way.
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text) {
  const before = document.activeElement;
  const field = h('textarea', { class: 'unseen', readonly: true });
  field.value = text;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    before?.focus();
  }
}

// A button that copies `text` and says so.
export function copy(text, what) {
  const label = h('span', {}, 'Copy');
  const button = h(
    'button',
    { type: 'button', class: 'copy' },
    label,
    h('span', { class: 'unseen' }, ` ${what}`),
  );
  button.addEventListener('click', async () => {
    const isCopied = await toClipboard(text);
    label.textContent = isCopied ? 'Copied' : 'Not copied';
    announce(
      isCopied
        ? `Copied ${what}.`
        : `The browser did not copy ${what}; select the text and copy it with the keyboard.`,
    );
    setTimeout(() => {
      label.textContent = 'Copy';
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
