// How it looks, and whether everybody can use it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  PHONE,
  WIDE,
  isTooWide,
  openBrowser,
  openPage,
  panel,
  screenshot,
  violations,
} from './harness.mjs';

const FILLED = {
  id: '#id=1050118621198921728',
  guess: '#panel=guess&ids=175928847299117063%0A41771983423143937',
  many: '#panel=many',
  layout: '#panel=layout',
  range: '#panel=range&from=2026-01-01&to=2026-01-31T23:59:59.999Z',
  public: '#panel=public',
  make: '#panel=make',
};

// Of five nodes, some of which make more than others, at irregular times.
const MANY = Array.from({ length: 900 }, (_, at) => {
  const ms = at * 400 + Math.round(90_000 * Math.sin(at / 90)) + ((at * 7919) % 700);
  const node = [1, 2, 3, 1, 4, 1, 2, 5, 1][at % 9];
  return (2124904305097330688n + BigInt(ms) * 4194304n + BigInt(node) * 4096n).toString();
}).join('\n');

test('every panel, on phones and desks, by day and night', async (t) => {
  const started = await openBrowser(t);
  for (const [size, device] of [
    [WIDE, 'wide'],
    [PHONE, 'phone'],
  ]) {
    for (const scheme of ['light', 'dark']) {
      for (const [name, hash] of Object.entries(FILLED)) {
        const page = await openPage(t, started, { hash, scheme, size });
        if (name === 'many') {
          await page.getByRole('textbox', { name: 'IDs' }).fill(MANY);
          await page.getByRole('button', { name: 'Read these' }).click();
          await page.getByText('900 IDs read').waitFor();
        }
        if (name === 'make') await page.getByRole('button', { name: 'Make IDs' }).click();
        assert.deepEqual(await violations(page), [], `${name}, ${device}, ${scheme}`);
        assert.equal(await isTooWide(page), false, `${name} sticks out on a ${device} screen`);
        await screenshot(page, `page-${name}-${device}-${scheme}`);
      }
    }
  }
});

test('with the keyboard alone', async (t) => {
  const started = await openBrowser(t);
  const page = await openPage(t, started);
  const focused = () =>
    page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'One ID');
  // Something shows where one is.
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, 'solid');
  await page.keyboard.press('End');
  assert.equal(await focused(), 'Make IDs');
  assert.equal(await page.getByRole('heading', { level: 2 }).innerText(), 'Make IDs');
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused(), 'One ID');
  await page.keyboard.press('ArrowLeft');
  // The layout, the node, the count, the button.
  for (let stop = 0; stop < 4; stop += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByLabel('The IDs', { exact: true }).waitFor();
  await page.keyboard.press('Home');
});

test('back and forward', async (t) => {
  const started = await openBrowser(t);
  const page = await openPage(t, started, { hash: '#id=7' });
  await page.evaluate(() => {
    location.hash = '#panel=layout&layout=discord';
  });
  await page.getByRole('heading', { name: 'What it holds' }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Layout' }).inputValue(), 'discord');
  await page.goBack();
  await page.getByRole('heading', { level: 2, name: 'One ID' }).waitFor();
  await panel(page, 'Public IDs');
  await page.getByRole('heading', { level: 2, name: 'Public IDs' }).waitFor();
});
