// IDs made here.

import { attempt, copy, field, h, input } from '../dom.js';
import { bind, loadAll } from '../state.js';

export const name = 'make';
export const title = 'Make IDs';

const MOST = 1000;

export function make(page) {
  const node = input({ type: 'number', min: '0' });
  const count = input({ type: 'number', min: '1', max: String(MOST) });
  const go = h('button', { type: 'button', class: 'main' }, 'Make IDs');
  const error = h('p', { class: 'error', role: 'alert' });
  const result = h('pre', { tabindex: '0', 'aria-label': 'The IDs', hidden: true });
  const place = h('div', { class: 'actions' });
  // One for each layout and node: another would begin again in the same tick.
  const generators = new Map();

  const generator = () => {
    const key = `${page.layout()} ${node.value}`;
    if (!generators.has(key)) {
      generators.set(
        key,
        new page.core.Generator(page.layout(), BigInt(node.value || 0), Date.now()),
      );
    }
    return generators.get(key);
  };
  const run = async () => {
    result.hidden = true;
    place.replaceChildren();
    const made = attempt(error, generator);
    if (made === undefined) return;
    const wanted = Math.min(Math.max(Number(count.value) || 1, 1), MOST);
    const ids = [];
    while (ids.length < wanted) {
      try {
        ids.push(...made.next(wanted - ids.length, Date.now()).split('\n'));
      } catch (said) {
        // The tick is full, or the first one: the next comes by itself.
        if (!String(said).startsWith('FLAKEID_SEQUENCE_EXHAUSTED')) {
          error.textContent = String(said);
          return;
        }
        await new Promise((resolve) => {
          setTimeout(resolve, 1);
        });
      }
    }
    result.textContent = ids.join('\n');
    result.hidden = false;
    place.append(copy(result.textContent, 'the IDs'));
  };
  go.addEventListener('click', run);
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
    h('div', { class: 'actions' }, go),
    error,
    result,
    place,
  );
  return { element, show: () => loadAll(loads) };
}
