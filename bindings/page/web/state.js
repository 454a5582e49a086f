// What the page shows, in the address behind the #, which is not sent to anybody.

const listeners = [];
let state = read();

function read() {
  return new URLSearchParams(location.hash.slice(1));
}

export function get(name, otherwise = '') {
  return state.get(name) ?? otherwise;
}

// A change by the user. It replaces the address, so that the browser's history does not fill with every key.
export function put(name, value) {
  if (value === '') state.delete(name);
  else state.set(name, value);
  history.replaceState(null, '', `#${state}`);
}

// Ties a control to a name, now and whenever the address changes; `changed`, if there is one, runs at each change.
export function bind(control, name, otherwise, changed) {
  const load = () => {
    control.value = get(name, otherwise);
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
  state = read();
  for (const listener of listeners) listener();
});
