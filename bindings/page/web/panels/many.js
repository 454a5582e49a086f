// Many IDs: a file, or what is pasted. A worker reads them, so that the page goes on.

import { bars } from '../chart.js';
import { field, grouped, h, table } from '../dom.js';

export const name = 'many';
export const title = 'Many IDs';

// A text field with more than this in it makes browsers slow.
const MOST_IN_FIELD = 20_000;

export function make(page) {
  const text = h('textarea', {
    rows: '4',
    spellcheck: 'false',
    placeholder: 'Paste IDs, one in each line',
  });
  const file = h('input', { type: 'file' });
  const read = h('button', { type: 'button', class: 'main' }, 'Read these');
  const cancel = h('button', { type: 'button', disabled: true }, 'Cancel');
  const progress = h('progress', {
    max: '1',
    value: '0',
    'aria-label': 'How much is read',
    hidden: true,
  });
  const status = h('p', { class: 'hint', role: 'status' });
  const error = h('p', { class: 'error', role: 'alert' });
  const result = h('div', {});
  const drop = h('div', { class: 'drop' }, field('IDs', text), field('Or a file', file));
  let worker;

  const stop = (said) => {
    worker?.terminate();
    worker = undefined;
    cancel.disabled = true;
    progress.hidden = true;
    status.textContent = said;
  };
  const start = (blob) => {
    stop('');
    error.textContent = '';
    result.replaceChildren();
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
      if (data.ended) stop(`${grouped(figures.count)} IDs read.`);
      else status.textContent = `${grouped(figures.count)} IDs so far`;
    });
    worker.postMessage({ module: page.module, layout: page.layout(), blob });
  };

  text.addEventListener('paste', (event) => {
    const pasted = event.clipboardData.getData('text/plain');
    if (pasted.length <= MOST_IN_FIELD) return;
    event.preventDefault();
    start(new Blob([pasted]));
  });
  read.addEventListener('click', () => start(new Blob([text.value])));
  cancel.addEventListener('click', () => stop('Cancelled.'));
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
    if (dropped !== undefined) start(dropped);
  });
  const element = h(
    'div',
    {},
    h(
      'p',
      { class: 'hint' },
      'Of the layout above. Millions are no problem: a large paste is read at once, without standing in the field.',
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

const MOST_NODES = 24;
const MOST_PERIODS = 120;

function shown(figures, { ended, refused, firstRefused }) {
  const repeats = figures.repeats === null ? 'too many IDs to tell' : grouped(figures.repeats);
  const rows = [
    ['IDs', grouped(figures.count)],
    ['From', figures.from ?? ''],
    ['To', figures.to ?? ''],
    ['Repeats', ended ? repeats : 'counted at the end'],
    [
      'Steps back',
      figures.steps_back === 0
        ? 'none'
        : `${grouped(figures.steps_back)}, by up to ${grouped(figures.longest_step_back_ms)} ms`,
    ],
    ['Longest gap', `${grouped(figures.longest_gap_ms)} ms`],
    [
      'Largest sequence',
      `${grouped(figures.largest_sequence)}; ${grouped(figures.full_ticks)} ticks of a node were full`,
    ],
    ['Nodes', grouped(figures.nodes.length + (figures.other_nodes > 0 ? 1 : 0))],
  ];
  if (refused > 0)
    rows.push(['Not IDs of the layout', `${grouped(refused)}; first ${firstRefused}`]);
  return [table('Statistics', rows), ...plots(figures)];
}

const largest = (bars) => Math.max(...bars.map(([, count]) => count));

function plots(figures) {
  if (figures.count === 0) return [];
  const nodes = [...figures.nodes].sort((one, other) => other[1] - one[1]).slice(0, MOST_NODES);
  // Several periods in a bar, so that all have room.
  const each = Math.max(1, Math.ceil(figures.periods.length / MOST_PERIODS));
  const periods = [];
  for (let at = 0; at < figures.periods.length; at += each) {
    const together = figures.periods.slice(at, at + each);
    const begin = new Date(together[0][0]).toISOString();
    periods.push([begin, together.reduce((sum, [, count]) => sum + count, 0)]);
  }
  const seconds = (figures.period_ms * each) / 1000;
  return [
    h('h3', {}, `IDs in each ${grouped(seconds)} s`),
    bars(periods, 'plot', `IDs in each ${grouped(seconds)} s, from ${periods[0][0]}`),
    h(
      'p',
      { class: 'hint' },
      `From ${periods[0][0]} to ${periods.at(-1)[0]}; at most ${grouped(largest(periods))}.`,
    ),
    h(
      'h3',
      {},
      figures.nodes.length > MOST_NODES
        ? `The ${MOST_NODES} nodes with most IDs`
        : 'IDs of each node',
    ),
    bars(
      nodes.map(([node, count]) => [`node ${node}`, count]),
      'plot nodes',
      'IDs of each node',
    ),
    table(
      'The nodes with most IDs',
      nodes
        .slice(0, 8)
        .map(([node, count]) => [
          `node ${node}`,
          grouped(count),
          `${grouped((count * 100) / figures.count)} %`,
        ]),
    ),
  ];
}
