// A real `flakeid serve` on loopback, with its own embedded store.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const TOKEN = '0123456789abcdef';

export class Broker {
  #folder;
  #child;
  #more;

  // Starts a broker that runs until the test ends. `more` contains further arguments of the
  // command.
  static async start(t, ...more) {
    const broker = new Broker();
    broker.#folder = await mkdtemp(join(tmpdir(), 'flakeid-wasm-'));
    broker.#more = more;
    await writeFile(join(broker.#folder, 'tokens'), `${TOKEN}\n`);
    t.after(async () => {
      await broker.kill();
      await rm(broker.#folder, { recursive: true });
    });
    await broker.run('127.0.0.1:0');
    return broker;
  }

  async run(address) {
    const { FLAKEID_COMMAND: command } = process.env;
    const folder = this.#folder;
    const given = ['serve', '--store', `sqlite://${folder}/leases.db`, '--listen', address];
    const files = ['--token-file', join(folder, 'tokens')];
    // Short windows make the tests end within seconds.
    const windows = ['--lease-window', '1s', '--no-ids'];
    const all = [...given, ...files, ...windows, ...this.#more];
    this.#child = spawn(command, all, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child.once('error', (error) => {
      throw new Error(`${command}: cargo xtask test --only WebAssembly builds it`, {
        cause: error,
      });
    });
    const [line] = await once(this.#child.stdout, 'data');
    this.url = `${line}`.trim();
    if (!this.url.startsWith('http://')) throw new Error(`flakeid serve: ${line}`);
    this.address = this.url.slice('http://'.length);
  }

  // Ends the process at once, as `kill -9` does.
  async kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  pause() {
    this.#child.kill('SIGSTOP');
  }

  goOn() {
    this.#child.kill('SIGCONT');
  }

  // Returns the state of a node: free or held.
  async stateOf(node) {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`${this.url}/v1/default/leases`, { headers });
    const { leases } = await answer.json();
    return leases.find((lease) => lease.node === node)?.state;
  }
}
