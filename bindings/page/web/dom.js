// Short functions that build elements.

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

// Adds a label to a control. Returns an element that contains both.
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

// Announces a message to users of a screen reader.
export function announce(text) {
  document.getElementById('announcement').textContent = text;
}

// Elements that scroll get focus by the Tab key, so that the arrow keys can scroll them. Other
// elements do not get focus.
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const place = target.closest('.scroll') ?? target;
    if (place.scrollWidth > place.clientWidth) place.tabIndex = 0;
    else place.removeAttribute('tabindex');
  }
});

// Builds a table of rows `[heading, value …]`. A value is text or an element.
export function table(caption, rows, headings) {
  const heading = (text) => (text === '' ? h('td', {}) : h('th', { scope: 'col' }, text));
  const head = headings && h('thead', {}, h('tr', {}, ...headings.map(heading)));
  const body = rows.map(([name, ...cells]) =>
    h('tr', {}, h('th', { scope: 'row' }, name), ...cells.map(cell)),
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

export const mono = (...content) => h('td', { class: 'mono' }, ...content);

// Returns whether the text was copied. Over plain HTTP, browsers support only the old way.
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

// Builds a button that copies `text` and announces the result.
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
        : `The browser did not copy ${what}; select the text and copy it by keyboard.`,
    );
    setTimeout(() => {
      label.textContent = 'Copy';
    }, 1500);
  });
  return button;
}

// Writes 1234567 as 1,234,567 in every browser, because the page is in English.
export const grouped = (number) =>
  Number(number).toLocaleString('en-US', { maximumFractionDigits: 2 });

// Returns the message of an error. The module throws strings `CODE: message`; anything else is a
// bug of the page.
export function message(error) {
  if (typeof error === 'string') return error;
  throw error;
}

// Runs `work`, and shows an error in the input in `place`.
export function attempt(place, work) {
  try {
    place.textContent = '';
    return work();
  } catch (error) {
    place.textContent = message(error);
    return undefined;
  }
}
