// Tests of the appearance and the accessibility of the page.

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
  generate: '#panel=generate',
};

// IDs of five nodes at irregular times. Some nodes generate more than others.
const MANY = Array.from({ length: 900 }, (_, at) => {
  const ms = at * 400 + Math.round(90_000 * Math.sin(at / 90)) + ((at * 7919) % 700);
  const node = [1, 2, 3, 1, 4, 1, 2, 5, 1][at % 9];
  return (2124904305097330688n + BigInt(ms) * 4194304n + BigInt(node) * 4096n).toString();
}).join('\n');

test('every panel fits phones and wide screens, in dark and light colours', async (t) => {
  const started = await openBrowser();
  // The colours do not depend on the width.
  for (const [size, device, scheme] of [
    [WIDE, 'wide', 'light'],
    [PHONE, 'phone', 'dark'],
  ]) {
    for (const [name, hash] of Object.entries(FILLED)) {
      const page = await openPage(t, started, { hash, scheme, size });
      if (name === 'many') {
        await page.getByRole('textbox', { name: 'IDs' }).fill(MANY);
        await page.getByRole('button', { name: 'Read IDs' }).click();
        await page.getByText('900 IDs read').waitFor();
      }
      if (name === 'generate') await page.getByRole('button', { name: 'Generate IDs' }).click();
      assert.deepEqual(await violations(page), [], `${name}, ${device}, ${scheme}`);
      assert.equal(await isTooWide(page), false, `${name} is wider than a ${device} screen`);
      assert.deepEqual(await cutTabs(page), [], `tabs of ${name} beyond a ${device} screen`);
      assert.equal(
        await page.locator('.scroll[tabindex="0"]').count(),
        0,
        `${name} has a table that is cut`,
      );
      await screenshot(page, `page-${name}-${device}-${scheme}`);
    }
  }
});

// Returns the tabs that a screen of this width does not show whole.
const cutTabs = (page) =>
  page
    .getByRole('tab')
    .evaluateAll((tabs) =>
      tabs
        .filter((tab) => tab.getBoundingClientRect().right > innerWidth)
        .map((tab) => tab.textContent),
    );

test('ID is above its layout, and the links lead to the guide', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started, { hash: FILLED.id, size: PHONE });
  const top = async (control) => (await control.boundingBox()).y;
  const id = page.getByRole('textbox', { name: 'ID', exact: true });
  const layout = page.getByRole('combobox', { name: 'Layout' });
  assert.ok((await top(id)) < (await top(layout)));
  await panel(page, 'Layout');
  assert.ok((await top(layout)) < (await top(page.getByRole('heading', { level: 2 }))));
  const links = await page.getByRole('link').evaluateAll((all) => all.map(({ href }) => href));
  for (const link of links) assert.match(link, /^https:\/\/github\.com\/flakeid\/flakeid/);
  assert.equal(links.length, 4);
});

test('arrow keys and Tab reach every tab and button', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started);
  const focused = () =>
    page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'One ID');
  // The focus must be visible.
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, 'solid');
  await page.keyboard.press('End');
  assert.equal(await focused(), 'Generate IDs');
  assert.equal(await page.getByRole('heading', { level: 2 }).innerText(), 'Generate IDs');
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused(), 'One ID');
  await page.keyboard.press('ArrowLeft');
  // Tab moves to the layout, the node, the number and the button.
  for (let stop = 0; stop < 4; stop += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByLabel('The IDs', { exact: true }).waitFor();
  await page.keyboard.press('Home');
});

// Presses Tab until the control with the given name has the focus.
async function tabTo(page, wanted) {
  const focused = () =>
    page.evaluate(() => {
      const { id, labels, textContent } = document.activeElement;
      return labels?.[0]?.textContent ?? (textContent || id);
    });
  for (let stop = 0; stop < 60; stop += 1) {
    if ((await focused()) === wanted) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`the Tab key does not reach ${wanted}`);
}

// For each panel: the text to type into a control or the key to press on it, and the result.
const BY_KEYBOARD = [
  ['One ID', [['ID', '910499571847892992']], /2017-09-20T13:43:08.849Z/],
  ['Which system?', [['IDs', '1050118621198921728']], /^twitter$/],
  [
    'Many IDs',
    [
      ['IDs', '910499571847892992'],
      ['Read IDs', 'Enter'],
    ],
    /^1 ID read\.$/,
  ],
  [
    'Layout',
    [
      ['Sequence bits', '11'],
      ['Use these bits', 'Enter'],
    ],
    /^t41\.d5\.w5\.s11@1288834974657\/1ms$/,
  ],
  ['Time range', [['From', '2026-01-01']], /^WHERE id >= \d+$/],
  [
    'Public IDs',
    [
      ['New key', 'Enter'],
      ['ID', '910499571847892992'],
      ['Encrypt', 'Enter'],
    ],
    /^a[1-9A-HJ-NP-Za-km-z]{11}$/,
  ],
  ['Generate IDs', [['Generate IDs', 'Enter']], /^1 ID generated\.$/, '#count=1'],
];

test('every panel produces its result with the keyboard alone', async (t) => {
  const started = await openBrowser();
  for (const [name, steps, result, hash] of BY_KEYBOARD) {
    const page = await openPage(t, started, { hash });
    await page.keyboard.press('Tab');
    for (let stop = 0; stop < BY_KEYBOARD.findIndex(([other]) => other === name); stop += 1)
      await page.keyboard.press('ArrowRight');
    await page.getByRole('heading', { level: 2, name }).waitFor();
    await page.keyboard.press('Tab');
    for (const [control, typed] of steps) {
      await tabTo(page, control);
      if (typed === 'Enter') await page.keyboard.press('Enter');
      else {
        await page.keyboard.press('Control+A');
        await page.keyboard.type(typed);
      }
    }
    await page.getByText(result).filter({ visible: true }).first().waitFor();
  }
});

test('Tab stops only at tables that scroll, and charts have a table', async (t) => {
  const started = await openBrowser();
  const stops = (page) => page.locator('.scroll[tabindex="0"]').count();
  for (const [size, scrolls] of [
    [WIDE, false],
    [{ width: 200, height: 700 }, true],
  ]) {
    const page = await openPage(t, started, { hash: FILLED.id, size });
    await page.getByRole('table', { name: 'Text forms' }).waitFor();
    await page.waitForTimeout(200);
    assert.equal(
      (await stops(page)) > 0,
      scrolls,
      `stops of a page that is ${size.width} pixels wide`,
    );
  }
  const page = await openPage(t, started, { hash: FILLED.many });
  await page.getByRole('textbox', { name: 'IDs' }).fill(MANY);
  await page.getByRole('button', { name: 'Read IDs' }).click();
  await page.getByText('900 IDs read').waitFor();
  await page.getByText('As a table').first().click();
  const periods = page.getByRole('table', { name: /^IDs per/ });
  const rows = await periods.getByRole('cell').allInnerTexts();
  const sum = rows.reduce((all, count) => all + Number(count.replace(',', '')), 0);
  assert.equal(sum, 900);
  assert.deepEqual(await violations(page), []);
});

// A screen reader would read whole live tables aloud after every key.
test('live regions contain no tables', async (t) => {
  const started = await openBrowser();
  for (const hash of Object.values(FILLED)) {
    const page = await openPage(t, started, { hash });
    const tables = page.locator('[aria-live] table, [role=status] table, [role=alert] table');
    assert.equal(await tables.count(), 0);
  }
});

test('back button restores the previous layout and panel', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started, { hash: '#id=7' });
  await page.evaluate(() => {
    location.hash = '#panel=layout&layout=discord';
  });
  await page.getByRole('heading', { name: 'Capacity and limits' }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Layout' }).inputValue(), 'discord');
  await page.goBack();
  await page.getByRole('heading', { level: 2, name: 'One ID' }).waitFor();
  await panel(page, 'Public IDs');
  await page.getByRole('heading', { level: 2, name: 'Public IDs' }).waitFor();
});
