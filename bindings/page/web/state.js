// What the page shows, in the address behind the #, which is not sent to anybody.

// Milliseconds after the last change. Browsers refuse to change the address again and again.
const PAUSE = 300;

const listeners = [];
// By name: how much of a long value is in the address.
const shortened = new Map();
let state = read();
let timer;

function read() {
  return new URLSearchParams(location.hash.slice(1));
}

export function get(name, otherwise = '') {
  return state.get(name) ?? otherwise;
}

// Replaces the address, so that the browser's history does not fill with every key.
function write() {
  const shown = new URLSearchParams(state);
  for (const [name, shorten] of shortened) {
    if (shown.has(name)) shown.set(name, shorten(shown.get(name)));
  }
  try {
    history.replaceState(null, '', `#${shown}`);
  } catch {
    // The page does not need the address: only a link to what it shows does.
  }
}

// A change by the user.
export function put(name, value) {
  if (value === '') state.delete(name);
  else state.set(name, value);
  clearTimeout(timer);
  timer = setTimeout(write, PAUSE);
}

// Ties a control to a name, now and whenever the address changes; `changed`, if there is one, runs at each change.
// `shorten` says what of the value comes into the address.
export function bind(control, name, otherwise, changed, shorten) {
  if (shorten !== undefined) shortened.set(name, shorten);
  const load = () => {
    // Setting a value moves the cursor.
    if (control.value !== get(name, otherwise)) control.value = get(name, otherwise);
    changed?.();
  };
  control.addEventListener('input', () => {
    put(name, control.value === otherwise ? '' : control.value);
    changed?.();
  });
  listeners.push(load);
  return load;
}

export function loadAll(loads) {
  for (const load of loads) load();
}

export function onChange(listener) {
  listeners.push(listener);
}

addEventListener('hashchange', () => {
  clearTimeout(timer);
  state = read();
  for (const listener of listeners) listener();
});
