// The state of the page, in the address after the #, which browsers do not send.

// The time from the last change to the change of the address, in milliseconds. Browsers reject
// frequent changes of the address.
const PAUSE = 300;

const listeners = [];
// The functions that shorten long values for the address, by the names of the values.
const shortened = new Map();
let state = read();
let timer;

function read() {
  return new URLSearchParams(location.hash.slice(1));
}

export function get(name, otherwise = '') {
  return state.get(name) ?? otherwise;
}

// Replaces the address, so that the browser's history does not get an entry for every key.
function write() {
  const shown = new URLSearchParams(state);
  for (const [name, shorten] of shortened) {
    if (shown.has(name)) shown.set(name, shorten(shown.get(name)));
  }
  try {
    history.replaceState(null, '', `#${shown}`);
  } catch {
    // The page works without the address; only a link to its state needs it.
  }
}

// Changes a value for the user.
export function put(name, value) {
  if (value === '') state.delete(name);
  else state.set(name, value);
  clearTimeout(timer);
  timer = setTimeout(write, PAUSE);
}

// Binds a control to a name, now and when the address changes. `changed` is optional and runs after
// each change. `shorten` returns the part of the value that the address contains.
export function bind(control, name, otherwise, changed, shorten) {
  if (shorten !== undefined) shortened.set(name, shorten);
  const load = () => {
    // An assignment moves the cursor, so it is skipped if the value is the same.
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
