// Generation of IDs on the page.

import { attempt, copy, field, h, input, message } from '../dom.js';
import { bind, loadAll } from '../state.js';

export const name = 'generate';
export const title = 'Generate IDs';

const MOST = 1000;

// The longest time in milliseconds between two reads of the clock while the generator waits for the
// next tick.
const LONGEST_WAIT = 50;

const wait = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

export function make(page) {
  const node = input({ inputmode: 'numeric' });
  const count = input({ inputmode: 'numeric' });
  const go = h('button', { type: 'button', class: 'main' }, 'Generate IDs');
  const cancel = h('button', { type: 'button', disabled: true }, 'Cancel');
  const progress = h('progress', { 'aria-label': 'Progress', hidden: true });
  const progressText = h('p', { class: 'hint' });
  const status = h('p', { class: 'hint', role: 'status' });
  const error = h('p', { class: 'error', role: 'alert' });
  const result = h('pre', { tabindex: '0', 'aria-label': 'The IDs', hidden: true });
  const place = h('div', { class: 'actions' });
  // Each layout and node has one generator: a second one would start again in the same tick.
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
  // Returns the IDs, or fewer if the user cancels.
  const generateIds = async ({ generator, wanted }) => {
    const ids = [];
    const pause = Math.min(page.described()?.unit_ms ?? 1, LONGEST_WAIT);
    progress.max = wanted;
    while (ids.length < wanted && !isCancelled) {
      try {
        ids.push(...generator.next(wanted - ids.length, Date.now()).split('\n'));
      } catch (thrown) {
        // The generator is in its first tick, or the tick is full: the next tick starts by itself.
        if (!message(thrown).startsWith('FLAKEID_SEQUENCE_EXHAUSTED')) {
          error.textContent = thrown;
          return ids;
        }
        progress.value = ids.length;
        const isSlow = pause === LONGEST_WAIT;
        if (isSlow) progressText.textContent = `${ids.length} of ${wanted} IDs`;
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
    const request = attempt(error, setup);
    if (request === undefined) return;
    isRunning = true;
    isCancelled = false;
    // The attribute `disabled` would remove the focus.
    go.setAttribute('aria-disabled', 'true');
    cancel.disabled = false;
    try {
      const ids = await generateIds(request);
      result.textContent = ids.join('\n');
      result.hidden = ids.length === 0;
      if (ids.length > 0) place.append(copy(result.textContent, 'the IDs'));
      const summary = ids.length === 1 ? '1 ID generated.' : `${ids.length} IDs generated.`;
      status.textContent = isCancelled ? `Cancelled; ${summary}` : summary;
    } finally {
      isRunning = false;
      go.removeAttribute('aria-disabled');
      cancel.disabled = true;
      progress.hidden = true;
      progressText.textContent = '';
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
      'The page generates IDs with the same code as the command. They are unique only within this page. In production, lease a node or give each process its own node.',
    ),
    h('div', { class: 'row' }, field('Node', node), field(`Number of IDs, up to ${MOST}`, count)),
    h('div', { class: 'actions' }, go, cancel),
    progress,
    progressText,
    status,
    error,
    result,
    place,
  );
  return { element, show: () => loadAll(loads) };
}
