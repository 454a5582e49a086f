// Checks of the installed package, which run in a page and in its worker.

import { checkErrors } from '/loops/errors.mjs';
import { equal, rows } from '/loops/rows.mjs';
import { playSchedules } from '/loops/schedules.mjs';
import * as flakeid from '/package/wasm/browser-entry.mjs';
import { init } from '/package/wasm/init.mjs';

const COUNT = 100_000;

function codeOf(call, place) {
  try {
    call();
  } catch (error) {
    if (!(error instanceof flakeid.FlakeIdError)) throw error;
    return error.code;
  }
  throw new Error(`${place}: no error`);
}

async function vectors(name) {
  const response = await fetch(`/vectors/${name}.json`);
  return response.json();
}

function checkLayouts(file) {
  for (const row of rows(file, 'presets')) {
    equal(`${flakeid.Layout.parse(row.name)}`, row.descriptor, row.name);
  }
  for (const row of rows(file, 'ids')) {
    const layout = flakeid.Layout.parse(row.layout);
    const parts = layout.unpack(row.id);
    for (const [name, key] of [
      ['tick', 'tick'],
      ['unixMs', 'unix_ms'],
      ['node', 'node'],
      ['sequence', 'sequence'],
    ]) {
      equal(`${parts[name]}`, row[key], `${row.id} ${name}`);
    }
    equal(`${layout.pack(parts)}`, row.id, row.layout);
  }
  for (const row of rows(file, 'rejected_ids')) {
    equal(
      codeOf(() => flakeid.decode(row.id, row.layout), row.id),
      row.code,
      row.id,
    );
  }
  for (const row of rows(file, 'bounds')) {
    equal(`${flakeid.lowerBound(BigInt(row.unix_ms), row.layout)}`, row.lower, JSON.stringify(row));
    equal(`${flakeid.upperBound(BigInt(row.unix_ms), row.layout)}`, row.upper, JSON.stringify(row));
  }
}

function checkText(file) {
  for (const group of rows(file, 'forms')) {
    const name = group.form.replace(/(?:^|_)[a-z]/g, (start) => start.at(-1).toUpperCase());
    for (const row of rows(group, 'valid')) {
      equal(flakeid[`to${name}`](row.id), row.text, row.id);
      equal(`${flakeid[`from${name}`](row.text)}`, row.id, row.text);
    }
    for (const row of rows(group, 'rejected')) {
      equal(
        codeOf(() => flakeid[`from${name}`](row.text), row.text),
        row.code,
        row.text,
      );
    }
  }
}

async function checkGenerating(node) {
  const generator = new flakeid.Generator({ node });
  const ids = await generator.nextIdsAsync(COUNT);
  equal(ids.length, COUNT, 'nextIdsAsync');
  equal(new Set(ids).size, COUNT, 'distinct');
  // At this rate some call finds a full tick. The next attempt must succeed, and no ID may be
  // repeated.
  let last = ids[COUNT - 1];
  let full = 0;
  for (let made = 0; made < COUNT; ) {
    const started = performance.now();
    try {
      const id = generator.nextId();
      if (id <= last) throw new Error(`${id} after ${last}`);
      last = id;
      made += 1;
    } catch (error) {
      if (error.code !== 'FLAKEID_SEQUENCE_EXHAUSTED') throw error;
      full += 1;
      if (performance.now() - started > 50)
        throw new Error('a call kept its thread', { cause: error });
    }
  }
  const parts = flakeid.decode(last);
  equal(parts.node, node, 'node');
  if (Math.abs(parts.unixMs - Date.now()) > 1000) throw new Error(`made at ${parts.timestamp}`);
  return { first: ids[0], last, full };
}

export async function run(agent) {
  if ((await init()).Generator !== flakeid.Generator)
    throw new Error('init created another instance');
  checkLayouts(await vectors('layouts'));
  const { forms } = await vectors('text');
  checkText({ forms: [...forms, { form: 'uuid', ...(await vectors('uuid')) }] });
  checkErrors(flakeid, await vectors('errors'));
  const steps = playSchedules(flakeid, await vectors('schedules'));
  const { first, last, full } = await checkGenerating(agent === 'page' ? 1 : 2);
  return { agent, steps, first: `${first}`, last: `${last}`, full };
}
