// The page: its layout, its panels, and the module that they call.

import * as core from '#glue';

import { attempt, h } from './dom.js';
import * as bounds from './panels/bounds.js';
import * as generate from './panels/generate.js';
import * as guess from './panels/guess.js';
import * as inspect from './panels/inspect.js';
import * as layout from './panels/layout.js';
import * as many from './panels/many.js';
import * as publicIds from './panels/public.js';
import { bind, get, onChange, put } from './state.js';

const PANELS = [inspect, guess, many, layout, bounds, publicIds, generate];

async function load() {
  const packed = Uint8Array.from(atob(document.getElementById('module').textContent), (c) =>
    c.charCodeAt(0),
  );
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const module = await WebAssembly.compile(await new Response(unpacked).arrayBuffer());
  core.initSync({ module });
  return module;
}

// The worker's script is in the file itself, so nothing is fetched.
function startWorker() {
  const url = URL.createObjectURL(
    new Blob([document.getElementById('worker').textContent], { type: 'text/javascript' }),
  );
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  return worker;
}

function makePage(module) {
  const choice = document.getElementById('layout');
  const hint = document.getElementById('layout-hint');
  const presets = JSON.parse(core.presets(Date.now()));
  document
    .getElementById('presets')
    .append(...presets.map(({ name, descriptor }) => h('option', { value: name }, descriptor)));
  let described;

  const page = {
    core,
    module,
    startWorker,
    forms: core.forms().split(' '),
    layout: () => choice.value.trim(),
    described: () => described,
    setLayout(text) {
      choice.value = text;
      choice.dispatchEvent(new Event('input'));
    },
  };
  const panels = PANELS.map(({ name, title, make }) => ({ name, title, ...make(page) }));
  const loadLayout = bind(choice, 'layout', 'twitter', () => {
    described = attempt(hint, () => JSON.parse(core.layout(page.layout(), Date.now())));
    choice.toggleAttribute('aria-invalid', false);
    if (described === undefined) choice.setAttribute('aria-invalid', 'true');
    else hint.textContent = `${described.descriptor}, until ${described.horizon.split('T')[0]}`;
    for (const panel of panels) panel.layoutChanged?.();
  });
  loadLayout();
  return panels;
}

function makeTabs(panels) {
  const tabs = document.getElementById('tabs');
  const place = document.getElementById('panels');
  const layoutChoice = document.getElementById('layout-choice');
  const layoutPlace = document.getElementById('layout-place');
  for (const panel of panels) {
    const id = `panel-${panel.name}`;
    panel.section = h(
      'section',
      { id, role: 'tabpanel', 'aria-labelledby': `tab-${panel.name}`, hidden: true },
      h('h2', {}, panel.title),
      panel.element,
    );
    panel.tab = h(
      'button',
      { type: 'button', id: `tab-${panel.name}`, role: 'tab', 'aria-controls': id },
      panel.title,
    );
    panel.tab.addEventListener('click', () => {
      put('panel', panel.name === panels[0].name ? '' : panel.name);
      choose();
    });
    tabs.append(panel.tab);
    place.append(panel.section);
  }
  const choose = () => {
    const chosen = panels.find(({ name }) => name === get('panel')) ?? panels[0];
    for (const panel of panels) {
      const isChosen = panel === chosen;
      panel.section.hidden = !isChosen;
      panel.tab.setAttribute('aria-selected', String(isChosen));
      panel.tab.tabIndex = isChosen ? 0 : -1;
    }
    (chosen.layoutPlace ?? layoutPlace).append(layoutChoice);
    chosen.tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    chosen.show?.();
  };
  // The tabs have one stop of the Tab key; the arrow keys move between them.
  tabs.addEventListener('keydown', (event) => {
    const at = panels.findIndex(({ tab }) => tab === document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: panels.length - 1 }[
      event.key
    ];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const { tab } = panels[(to + panels.length) % panels.length];
    tab.click();
    tab.focus();
  });
  onChange(choose);
  choose();
}

load()
  .then((module) => makeTabs(makePage(module)))
  .catch((error) => {
    document
      .getElementById('panels')
      .append(h('p', { class: 'error', role: 'alert' }, String(error)));
    throw error;
  });
