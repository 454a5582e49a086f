// Tests with a million IDs, which a worker reads, so that the page shows figures and responds before
// all IDs are read. The tests do not limit times, because the machine may be busy.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openBrowser, openPage } from './harness.mjs';

const COUNT = 1_000_000;
// The size of a worker's message: a message with all nodes would have to be parsed and sorted
// repeatedly.
const MOST_CHARACTERS = 20_000;

// A million IDs of five nodes: 512 per millisecond, one of them twice, and some out of order.
const OF_FIVE_NODES = `(() => {
  const lines = [];
  for (let at = 0; at < ${COUNT}; at += 1) {
    const tick = 836_069_000_000n + BigInt(at >> 9);
    lines.push(((tick << 22n) | (BigInt(at % 5) << 12n) | BigInt(at & 511)).toString());
  }
  lines[500_000] = lines[10];
  return lines.join('\\n');
})()`;

// A million IDs of all 65,536 nodes of sonyflake.
const OF_ALL_NODES = `(() => {
  const lines = [];
  for (let at = 0; at < ${COUNT}; at += 1) {
    const tick = 37_000_000_000n + BigInt(at >> 16);
    lines.push(((tick << 24n) | BigInt((at * 40_503) & 65_535)).toString());
  }
  return lines.join('\\n');
})()`;

const copyThem = (page, ids) => page.evaluate(`navigator.clipboard.writeText(${ids})`);

// Pastes the IDs into a page with `hash`. Returns the text of its statistics.
async function pasted(t, started, hash, ids) {
  const page = await openPage(t, started, { hash });
  await page.evaluate(() => {
    window.turns = 0;
    setInterval(() => {
      window.turns += 1;
    }, 0);
    window.messages = [];
    const listen = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (type, listener) {
      listen.call(this, type, (event) => {
        const { figures, ended } = event.data;
        const { turns } = window;
        window.messages.push({ length: figures.length, ended, turns, at: performance.now() });
        listener(event);
      });
    };
    window.pasting = new Promise((resolve) => {
      addEventListener('paste', () => resolve(performance.now()), { capture: true });
    });
  });
  await copyThem(page, ids);
  await page.getByRole('textbox', { name: 'IDs' }).focus();
  await page.keyboard.press('Control+V');
  await page.getByText('1,000,000 IDs read').waitFor();
  const messages = await page.evaluate('window.messages');
  const pastedAt = await page.evaluate('window.pasting');
  const most = Math.max(...messages.map(({ length }) => length));
  assert.ok(most > 0 && most <= MOST_CHARACTERS, `a message of the worker has ${most} characters`);
  const [first, last] = [messages[0], messages.at(-1)];
  assert.ok(!first.ended && last.ended, 'the first figures must come before all IDs are read');
  assert.ok(last.turns > first.turns, 'the page must respond while the worker reads IDs');
  const after = ({ at }) => `${Math.round(at - pastedAt)} ms`;
  console.log(
    `a million pasted IDs: first figures after ${after(first)}, all after ${after(last)}`,
  );
  return page.getByRole('table', { name: 'Statistics' }).innerText();
}

test('a million pasted IDs are counted without blocking the page', async (t) => {
  const started = await openBrowser();
  const text = await pasted(t, started, '#panel=many', OF_FIVE_NODES);
  assert.match(text, /IDs\s+1,000,000/);
  assert.match(text, /Repeated IDs\s+1\b/);
  assert.match(text, /Nodes\s+5\b/);
  assert.match(text, /Steps back\s+[1-9]/);
});

test('a million pasted IDs of 65,536 nodes are counted without blocking the page', async (t) => {
  const started = await openBrowser();
  const text = await pasted(t, started, '#panel=many&layout=sonyflake', OF_ALL_NODES);
  assert.match(text, /Nodes\s+65,536/);
  assert.match(text, /Repeated IDs\s+0\b/);
});

test('a million dropped IDs are counted', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started, { hash: '#panel=many' });
  const drop = (selector, content) =>
    page.evaluate(`(() => {
      const transfer = new DataTransfer();
      ${content}
      const events = ['dragover', 'drop'].map(
        (type) => new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }),
      );
      for (const event of events) document.querySelector('${selector}').dispatchEvent(event);
      return events.map((event) => event.defaultPrevented);
    })()`);
  const file = `transfer.items.add(new File([${OF_FIVE_NODES}], 'ids.txt'));`;
  // Outside the box, the file is not read, and the browser does not open it in place of the page.
  assert.deepEqual(await drop('h1', "transfer.items.add(new File(['1'], 'ids.txt'));"), [
    true,
    true,
  ]);
  assert.equal(await page.getByRole('table', { name: 'Statistics' }).count(), 0);
  assert.deepEqual(await drop('.drop', file), [true, true]);
  await page.getByText('1,000,000 IDs read').waitFor();
  const statistics = page.getByRole('table', { name: 'Statistics' });
  assert.match(await statistics.innerText(), /Nodes\s+5\b/);
  // Dropped text is read as well, and the field shows it.
  await drop('.drop', "transfer.setData('text/plain', '2124904305097330688');");
  await page.getByText('1 ID read').waitFor();
  const field = page.getByRole('textbox', { name: 'IDs' });
  assert.equal(await field.inputValue(), '2124904305097330688');
  // Drops on other fields have their default effect.
  assert.deepEqual(await drop('#layout', "transfer.setData('text/plain', 'discord');"), [
    false,
    false,
  ]);
});

const readFrom = (page, content) =>
  page.locator('input[type=file]').setInputFiles({
    name: 'ids.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from(content),
  });

test('lines that are not IDs are counted and the first is shown', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started, { hash: '#panel=many' });
  const field = page.getByRole('textbox', { name: 'IDs' });
  await field.fill('["2124904305097330688","x",2124904305097330689]');
  await page.getByRole('button', { name: 'Read IDs' }).click();
  await page.getByText('2 IDs read').waitFor();
  const statistics = page.getByRole('table', { name: 'Statistics' });
  assert.match(await statistics.innerText(), /Not IDs of the layout\s+1; the first is number 2/);
  // A byte order mark does not belong to an ID.
  await readFrom(page, '\ufeff2124904305097330688\r\n2124904305097330689\r\n2124904305097330690');
  await page.getByText('3 IDs read').waitFor();
  assert.doesNotMatch(await statistics.innerText(), /Not IDs/);
  // The end of a line that is too long does not count as an ID, wherever the browser splits the
  // file.
  const long = `${'x'.repeat(3_000_000)}2124904305097330688`;
  await readFrom(page, `2124904305097330688\n${long}\n2124904305097330689\n`);
  await page.getByText('2 IDs read').waitFor();
  assert.match(await statistics.innerText(), /Not IDs of the layout\s+1; the first is number 2/);
  // The same file can be chosen again.
  const chooser = page.waitForEvent('filechooser');
  await page.locator('input[type=file]').click();
  await chooser;
  assert.equal(await page.locator('input[type=file]').inputValue(), '');
});

test('excess nodes and times far in the future are shown', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started, { hash: '#panel=many&layout=baidu' });
  const ids = Array.from({ length: 70_000 }, (_, node) => 2n ** 35n + (BigInt(node) << 13n));
  await readFrom(page, ids.join('\n'));
  await page.getByText('70,000 IDs read').waitFor();
  const statistics = page.getByRole('table', { name: 'Statistics' });
  assert.match(
    await statistics.innerText(),
    /Nodes\s+at least 65,536; 4,464 IDs come from other nodes/,
  );
  await page.getByRole('heading', { name: 'The 24 nodes with the most IDs' }).waitFor();
  // JavaScript's dates end in the year 275,760.
  await page.getByRole('combobox', { name: 'Layout' }).fill('t53.n10@0/1s');
  const id = (8_700_000_000_000n << 10n).toString();
  await page.getByRole('textbox', { name: 'IDs' }).fill(id);
  await page.getByRole('button', { name: 'Read IDs' }).click();
  await page.getByText('1 ID read').waitFor();
  assert.match(await statistics.innerText(), /From\s+\+?27\d{4}-/);
  const hint = await page.locator('#layout-hint').innerText();
  assert.match(hint, /until \+?\d{5,}-\d\d-\d\d$/);
});

test('reading can be cancelled', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started, { hash: '#panel=many' });
  // The end of reading is not reported, so that it cannot come before the click.
  await page.evaluate(() => {
    const listen = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (type, listener) {
      listen.call(this, type, (event) => {
        if (event.data?.ended !== true) listener(event);
      });
    };
    const terminate = Worker.prototype.terminate;
    window.terminated = 0;
    Worker.prototype.terminate = function () {
      window.terminated += 1;
      terminate.call(this);
    };
  });
  await readFrom(page, '2124904305097330688\n'.repeat(2_000_000));
  const progress = page.getByRole('progressbar', { name: 'Progress' });
  await page.getByRole('table', { name: 'Statistics' }).waitFor();
  await progress.waitFor();
  const value = await progress.evaluate((element) => element.value);
  assert.ok(value > 0 && value <= 1, `${value}`);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Cancelled.').waitFor();
  assert.equal(await page.evaluate('window.terminated'), 1);
  assert.equal(await page.getByRole('button', { name: 'Cancel' }).isDisabled(), true);
  assert.equal(await progress.isVisible(), false);
});
