// Checks that exports, declarations and versions are consistent.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import flakeid, { name } from './subject.mjs';
import { load, read, rows } from './vectors.mjs';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('flakeid-core/package.json'));
const own = (file) => readFileSync(join(folder, file), 'utf8');
const declarations = own('api.d.ts');

// Returns the names of the values that a declaration file exports.
function declared(text) {
  return [...text.matchAll(/^export (?:declare )?(?:function|class|const) (\w+)/gm)].map(
    (match) => match[1],
  );
}

const names = Object.keys(flakeid)
  .filter((key) => key !== 'default' && key !== 'module.exports')
  .sort();

test('every entry exports exactly the declared names', () => {
  const types = [...declared(declarations), ...declared(own('index.d.ts'))];
  assert.deepEqual(names, [...new Set(types)].sort());
  assert.deepEqual(Object.keys(require(name)).sort(), names);
  assert.equal(require(name).Generator, flakeid.Generator, 'require and import are two libraries');
});

// Returns the members of a declared class, which are recognized by their indentation.
function members(name) {
  const body = (declarations + own('index.d.ts')).match(
    new RegExp(`export class ${name}[^]*?\\n}`),
  )[0];
  const inClass = body.matchAll(/^ {2}(?:static )?(?:readonly )?(\[?[\w.]+\]?)\??[(:]/gm);
  // The members that only the native package has.
  const parts = own('index.d.ts').matchAll(
    new RegExp(`^ {2}(?:interface|namespace) ${name} {[^]*?\\n {2}}`, 'gm'),
  );
  const added = [...parts].flatMap(([part]) => [
    ...part.matchAll(/^ {4}(?:readonly |function )?(\w+)[(:]/gm),
  ]);
  return [...inClass, ...added].map((match) => match[1]);
}

test('classes have exactly the declared members', () => {
  const clock = new flakeid.ManualClock(1_600_000_000_000);
  const objects = {
    Generator: new flakeid.Generator({ node: 1, clock }),
    Layout: new flakeid.Layout('twitter'),
    ManualClock: clock,
  };
  const { LocalGenerator, BufferedGenerator, CachedGenerator } = flakeid;
  const handles = [LocalGenerator, BufferedGenerator];
  // WebAssembly has no threads for rings.
  if (name === 'flakeid-core') handles.push(CachedGenerator);
  for (const Handle of handles) objects[Handle.name] = new Handle(objects.Generator);
  for (const [name, object] of Object.entries(objects)) {
    // Node 20 inspects this differently.
    const show = (key) => {
      for (const known of ['dispose', 'asyncDispose']) {
        if (key === Symbol[known]) return `[Symbol.${known}]`;
      }
      return typeof key === 'symbol' ? `[${key.description}]` : key;
    };
    const statics = Reflect.ownKeys(flakeid[name]).filter(
      (key) => !['length', 'name', 'prototype'].includes(key),
    );
    const found = [...Reflect.ownKeys(object), ...statics];
    let prototype = Object.getPrototypeOf(object);
    while (prototype !== Object.prototype) {
      found.push(...Reflect.ownKeys(prototype));
      prototype = Object.getPrototypeOf(prototype);
    }
    const expected = members(name).filter((key) => {
      const [, known] = key.match(/^\[Symbol\.(.*)\]$/) ?? [];
      return known === undefined || Symbol[known] !== undefined;
    });
    assert.deepEqual([...new Set(found.map(show))].sort(), [...new Set(expected)].sort(), name);
  }
});

test('declared codes and presets match the vectors', () => {
  const literals = (type) => {
    const union = declarations.match(new RegExp(`export type ${type} =([^;]*);`))[1];
    return [...union.matchAll(/'([^']+)'/g)].map((match) => match[1]);
  };
  assert.deepEqual(literals('ErrorCode'), [
    ...rows(load('errors'), 'errors').map((row) => row.code),
    'FLAKEID_NODE_IN_USE',
  ]);
  assert.deepEqual(literals('PresetName'), flakeid.Layout.presets());
});

test('all packages have the same version', () => {
  const [, version] = read('Cargo.toml').match(/\[workspace\.package\]\s+version = "([^"]+)"/);
  const manifest = JSON.parse(own('package.json'));
  assert.equal(flakeid.version, version);
  assert.equal(manifest.version, version);
  for (const [dependency, wanted] of Object.entries(manifest.optionalDependencies ?? {})) {
    assert.equal(wanted, version, dependency);
  }
});
