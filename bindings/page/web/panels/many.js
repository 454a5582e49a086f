// Statistics of many IDs from a file or a paste. A worker reads them, so that the page responds.

import { bars, values } from '../chart.js';
import { field, grouped, h, table } from '../dom.js';

export const name = 'many';
export const title = 'Many IDs';

// A text field with more characters slows browsers down.
const MOST_IN_FIELD = 20_000;

export function make(page) {
  const text = h('textarea', {
    rows: '4',
    spellcheck: 'false',
    placeholder: 'Paste IDs, one per line',
  });
  const file = h('input', { type: 'file' });
  const read = h('button', { type: 'button', class: 'main' }, 'Read IDs');
  const cancel = h('button', { type: 'button', disabled: true }, 'Cancel');
  const progress = h('progress', {
    max: '1',
    value: '0',
    'aria-label': 'Progress',
    hidden: true,
  });
  const status = h('p', { class: 'hint', role: 'status' });
  const error = h('p', { class: 'error', role: 'alert' });
  const result = h('div', {});
  const drop = h('div', { class: 'drop' }, field('IDs', text), field('Or a file', file));
  let worker;

  const stop = (text) => {
    worker?.terminate();
    worker = undefined;
    cancel.disabled = true;
    progress.hidden = true;
    status.textContent = text;
  };
  const start = (blob) => {
    stop('');
    error.textContent = '';
    result.replaceChildren();
    status.textContent = 'Reading …';
    cancel.disabled = false;
    progress.hidden = false;
    progress.value = 0;
    worker = page.startWorker();
    worker.addEventListener('error', (event) => {
      stop('');
      error.textContent = event.message;
    });
    worker.addEventListener('message', ({ data }) => {
      if (data.error !== undefined) {
        stop('');
        error.textContent = data.error;
        return;
      }
      progress.value = blob.size === 0 ? 1 : data.read / blob.size;
      const figures = JSON.parse(data.figures);
      result.replaceChildren(...shown(figures, data));
      const ids = figures.count === 1 ? '1 ID' : `${grouped(figures.count)} IDs`;
      if (data.ended) stop(`${ids} read.`);
    });
    worker.postMessage({ module: page.module, layout: page.layout(), blob });
  };

  // Dropped text is shown in the field, unless it is too long for it.
  const readText = (dropped) => {
    if (dropped === '') return;
    text.value = dropped.length > MOST_IN_FIELD ? '' : dropped;
    start(new Blob([dropped]));
  };

  text.addEventListener('paste', (event) => {
    const pasted = event.clipboardData.getData('text/plain');
    if (pasted.length <= MOST_IN_FIELD) return;
    event.preventDefault();
    start(new Blob([pasted]));
  });
  read.addEventListener('click', () => start(new Blob([text.value])));
  cancel.addEventListener('click', () => stop('Cancelled.'));
  // With an empty value, a second choice of the same file is a change.
  file.addEventListener('click', () => {
    file.value = '';
  });
  file.addEventListener('change', () => {
    if (file.files.length > 0) start(file.files[0]);
  });
  drop.addEventListener('dragover', (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    const [dropped] = event.dataTransfer.files;
    if (dropped === undefined) readText(event.dataTransfer.getData('text/plain'));
    else start(dropped);
  });
  // Outside the box, files are ignored. Otherwise the browser would replace the page by the file.
  for (const type of ['dragover', 'drop']) {
    document.addEventListener(type, (event) => {
      if (event.dataTransfer.types.includes('Files')) event.preventDefault();
    });
  }
  const element = h(
    'div',
    {},
    h(
      'p',
      { class: 'hint' },
      'IDs of the layout. The page can read millions of IDs: it reads a large paste directly and does not show it in the field.',
    ),
    drop,
    h('div', { class: 'actions' }, read, cancel),
    progress,
    status,
    error,
    result,
  );
  return { element };
}

// The number of nodes in the table. The chart shows more.
const MOST_IN_TABLE = 8;

function shown(figures, { ended, rejected, firstRejected }) {
  const repeats = figures.repeats === null ? 'too many IDs to detect' : grouped(figures.repeats);
  const { nodes } = figures;
  const rows = [
    ['IDs', grouped(figures.count)],
    ['From', figures.from ?? ''],
    ['To', figures.to ?? ''],
    ['Repeated IDs', ended ? repeats : 'counted at the end'],
    [
      'Steps back',
      figures.steps_back === 0
        ? 'none'
        : `${grouped(figures.steps_back)}, each by at most ${grouped(figures.longest_step_back_ms)} ms`,
    ],
    ['Longest gap', `${grouped(figures.longest_gap_ms)} ms`],
    [
      'Largest sequence',
      `${grouped(figures.largest_sequence)}; a tick of a node was full ${grouped(figures.full_ticks)} times`,
    ],
    [
      'Nodes',
      nodes.other_ids === 0
        ? grouped(nodes.count)
        : `at least ${grouped(nodes.count)}; ${grouped(nodes.other_ids)} IDs come from other nodes`,
    ],
  ];
  if (rejected > 0)
    rows.push(['Not IDs of the layout', `${grouped(rejected)}; the first is ${firstRejected}`]);
  return [table('Statistics', rows), ...plots(figures)];
}

function plots({ count: all, nodes, seconds, bars: periods }) {
  if (all === 0) return [];
  const [first] = periods[0];
  const [last] = periods.at(-1);
  const most = Math.max(...periods.map(([, count]) => count));
  const each = `IDs per ${grouped(seconds)} s`;
  const named = nodes.top.map(([node, count]) => [`node ${node}`, count]);
  return [
    h('h3', {}, each),
    bars(periods, 'plot', `${each}, from ${first}`),
    h('p', { class: 'hint' }, `From ${first} to ${last}; at most ${grouped(most)}.`),
    values(each, periods),
    h(
      'h3',
      {},
      nodes.count > named.length ? `The ${named.length} nodes with the most IDs` : 'IDs per node',
    ),
    bars(named, 'plot nodes', 'IDs per node'),
    table(
      'The nodes with the most IDs',
      named
        .slice(0, MOST_IN_TABLE)
        .map(([node, count]) => [node, grouped(count), `${grouped((count * 100) / all)} %`]),
    ),
    ...(named.length > MOST_IN_TABLE ? [values('IDs of these nodes', named)] : []),
  ];
}
