// Writes the declarations of the add-on's functions from what the macros noted down: one JSON
// object per line. Used by `cargo xtask node`.

import { readFileSync } from 'node:fs';

const HEADER = `// Written by \`cargo xtask node\` from bindings/node/src. Do not edit.

interface ExternalObject<T> {
  readonly '': T;
}
interface ManualClock {
  readonly manualClock: unique symbol;
}
interface PublicIds {
  readonly publicIds: unique symbol;
}
/** A generator. */
type Owned = ExternalObject<'generator'>;
/** The place of a generator, a local handle or a ring, which is free once this is not kept any more. */
type SlotHandle = ExternalObject<'slot'>;
/** A ring over a generator. */
type Ring = ExternalObject<'ring'>;
`;

const indent = (text) => text.trimEnd().replace(/^/gm, '  ');

function declaration({ kind, name, js_doc: doc, def }) {
  if (kind === 'interface') return `${doc}export interface ${name} {\n${indent(def)}\n}\n`;
  if (kind === 'fn') return `${doc}export declare ${def}\n`;
  throw new Error(`no way to declare ${kind} ${name}`);
}

const notes = readFileSync(process.argv[2], 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
notes.sort((a, b) => (a.name < b.name ? -1 : 1));
process.stdout.write([HEADER, ...notes.map(declaration)].join('\n'));
