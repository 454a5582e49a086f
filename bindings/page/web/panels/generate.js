// IDs made here.

import { attempt, copy, field, h, input, message } from '../dom.js';
import { bind, loadAll } from '../state.js';

export const name = 'make';
export const title = 'Make IDs';

const MOST = 1000;

// Milliseconds between two looks at the clock while the generator waits for the next tick.
const LONGEST_WAIT = 50;

const wait = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

export function make(page) {
  const node = input({ inputmode: 'numeric' });
  const count = input({ inputmode: 'numeric' });
  const go = h('button', { type: 'button', class: 'main' }, 'Make IDs');
  const cancel = h('button', { type: 'button', disabled: true }, 'Cancel');
  const progress = h('progress', { 'aria-label': 'Progress', hidden: true });
  const far = h('p', { class: 'hint' });
  const status = h('p', { class: 'hint', role: 'status' });
  const error = h('p', { class: 'error', role: 'alert' });
  const result = h('pre', { tabindex: '0', 'aria-label': 'The IDs', hidden: true });
  const place = h('div', { class: 'actions' });
  // One for each layout and node: another would begin again in the same tick.
  const generators = new Map();
  let isRunning = false;
  let isCancelled = false;

  const setup = () => {
    const wanted = page.core.count(count.value, MOST);
    const key = `${page.layout()} ${node.value.trim()}`;
    if (!generators.has(key)) {
      generators.set(key, new page.core.Generator(page.layout(), node.value, Date.now()));
    }
    return { generator: generators.get(key), wanted };
  };
  // The IDs, or fewer if they are cancelled.
  const makeThem = async ({ generator, wanted }) => {
    const ids = [];
    const pause = Math.min(page.described()?.unit_ms ?? 1, LONGEST_WAIT);
    progress.max = wanted;
    while (ids.length < wanted && !isCancelled) {
      try {
        ids.push(...generator.next(wanted - ids.length, Date.now()).split('\n'));
      } catch (said) {
        // The tick is full, or the first one: the next comes by itself.
        if (!message(said).startsWith('FLAKEID_SEQUENCE_EXHAUSTED')) {
          error.textContent = said;
          return ids;
        }
        progress.value = ids.length;
        const isSlow = pause === LONGEST_WAIT;
        if (isSlow) far.textContent = `${ids.length} of ${wanted} IDs`;
        progress.hidden = !isSlow;
        await wait(pause);
      }
    }
    return ids;
  };
  const run = async () => {
    if (isRunning) return;
    result.hidden = true;
    place.replaceChildren();
    status.textContent = '';
    const asked = attempt(error, setup);
    if (asked === undefined) return;
    isRunning = true;
    isCancelled = false;
    // Not `disabled`, which would take the focus away.
    go.setAttribute('aria-disabled', 'true');
    cancel.disabled = false;
    try {
      const ids = await makeThem(asked);
      result.textContent = ids.join('\n');
      result.hidden = ids.length === 0;
      if (ids.length > 0) place.append(copy(result.textContent, 'the IDs'));
      const made = ids.length === 1 ? '1 ID made.' : `${ids.length} IDs made.`;
      status.textContent = isCancelled ? `Cancelled; ${made}` : made;
    } finally {
      isRunning = false;
      go.removeAttribute('aria-disabled');
      cancel.disabled = true;
      progress.hidden = true;
      far.textContent = '';
    }
  };
  go.addEventListener('click', run);
  cancel.addEventListener('click', () => {
    isCancelled = true;
  });
  const loads = [bind(node, 'node', '0'), bind(count, 'count', '5')];
  const element = h(
    'div',
    {},
    h(
      'p',
      { class: 'hint' },
      'By the same code as everywhere. Unique in this page only: for real ones, lease a node or give each process its own.',
    ),
    h('div', { class: 'row' }, field('Node', node), field(`How many, up to ${MOST}`, count)),
    h('div', { class: 'actions' }, go, cancel),
    progress,
    far,
    status,
    error,
    result,
    place,
  );
  return { element, show: () => loadAll(loads) };
}
