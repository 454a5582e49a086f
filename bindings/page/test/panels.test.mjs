// Tests of every panel by mouse and keyboard.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openBrowser, openPage, panel } from './harness.mjs';

test('every panel shows results and rejects invalid input', async (t) => {
  const started = await openBrowser();

  await t.test('one ID is decoded and shown in all forms', async (t) => {
    const page = await openPage(t, started);
    await page.getByRole('button', { name: 'Show 1050118621198921728' }).click();
    await page.getByText('2018-10-10T20:19:24.211Z').waitFor();
    const fields = page.getByRole('table', { name: 'Fields' });
    assert.match(await fields.innerText(), /sequence\s+0\s+12 bits/);
    // Leases know nodes by one number, which twitter splits into a datacenter and a worker.
    assert.match(await fields.innerText(), /node\s+\d+\s+datacenter × 32 \+ worker/);
    const bits = page.getByRole('img', { name: /^64 bits/ });
    assert.equal(await bits.locator('span').count(), 64);
    assert.equal(BigInt(`0b${(await bits.innerText()).replace(/\s/g, '')}`), 1050118621198921728n);
    await page.getByRole('button', { name: 'Copy base62' }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(
      await page.getByRole('table', { name: 'Text forms' }).innerText(),
      new RegExp(copied),
    );

    const field = page.getByRole('textbox', { name: 'ID', exact: true });
    await field.fill('0x0e92c5527c95b000');
    await page.getByText('1050118621198921728').first().waitFor();
    // A base62 ID may begin with 0x; a decimal ID may not, if only two digits follow.
    await page.getByLabel('Written as').selectOption('base62');
    await field.fill('0xAAAAAAAAA');
    await page.getByRole('button', { name: 'Copy base62' }).waitFor();
    assert.match(
      await page.getByRole('table', { name: 'Text forms' }).innerText(),
      /base62\s+0xAAAAAAAAA/,
    );
    await page.getByLabel('Written as').selectOption('decimal');
    await field.fill('0x');
    await page.getByRole('alert').filter({ hasText: 'the string is empty' }).waitFor();
    await field.fill('what');
    await page.getByRole('alert').filter({ hasText: 'FLAKEID_INVALID_ID' }).waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    // The address contains the state, which is shown again after a reload.
    await field.fill('175928847299117063');
    await page.getByRole('combobox', { name: 'Layout' }).fill('discord');
    await page.getByText('2016-04-30T11:18:25.796Z').waitFor();
    await page.waitForURL(/#.*id=175928847299117063.*layout=discord/);
    await page.reload();
    await page.getByText('2016-04-30T11:18:25.796Z').waitFor();
    await page.getByRole('combobox', { name: 'Layout' }).fill('t41.n10@0/1ms.');
    await page.getByRole('status').filter({ hasText: 'FLAKEID_INVALID_LAYOUT' }).waitFor();
  });

  await t.test('other identifiers are described, and UUIDs of IDs are decoded', async (t) => {
    const page = await openPage(t, started);
    const field = page.getByRole('textbox', { name: 'ID', exact: true });
    const invalid = page.getByRole('alert').filter({ hasText: 'FLAKEID_INVALID_ID' });
    const forms = page.getByRole('table', { name: 'Text forms' });
    await field.fill('0CA2BE89-5C23-8900-8366-6C616B656964');
    await page.getByText('2017-09-20T13:43:08.849Z').waitFor();
    assert.match(await forms.innerText(), /decimal\s+910499571847892992/);
    assert.match(await forms.innerText(), /uuid\s+0ca2be89-5c23-8900-8366-6c616b656964/);
    for (const [text, description] of [
      ['6ba7b810-9dad-41d1-80b4-00c04fd430c8', 'UUID of version 4, which contains random bits'],
      ['017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'version 7, created at 2022-02-22T19:22:22.000Z'],
      ['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'ULID, created at 2016-07-30T23:54:10.259Z'],
      ['0ujtsYcgvSTl8PAuAdqWYSMnLOv', 'KSUID, created at 2017-10-10T04:00:47Z'],
    ]) {
      await field.fill(text);
      await page.getByText(description).waitFor();
      await invalid.waitFor();
      assert.equal(await forms.count(), 0);
    }
    // The digits of an ID after a conversion to a number and back.
    const rounded = String(Number('910499571847892992'));
    assert.equal(rounded, '910499571847893000');
    await field.fill(rounded);
    await page.getByText('JavaScript may have rounded').waitFor();
    await page.getByText('2017-09-20T13:43:08.849Z').waitFor();
    await field.fill('910499571847892992');
    await page.getByText('JavaScript may have rounded').waitFor({ state: 'detached' });
  });

  await t.test('the address changes only after the last key', async (t) => {
    const page = await openPage(t, started);
    await page.evaluate(() => {
      const replace = History.prototype.replaceState;
      window.replaced = 0;
      History.prototype.replaceState = function (...given) {
        window.replaced += 1;
        // Safari rejects more than 100 calls in 30 s.
        if (window.replaced > 1) throw new DOMException('too many', 'SecurityError');
        replace.apply(this, given);
      };
    });
    const field = page.getByRole('textbox', { name: 'ID', exact: true });
    // All keys come at once. With pauses, a slow browser could reach the end of the wait between two keys.
    await field.evaluate((input) => {
      for (const key of '910499571847892992') {
        input.value += key;
        input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      }
    });
    // The result does not wait for the address.
    await page.getByText('2017-09-20T13:43:08.849Z').waitFor();
    await page.waitForURL(/id=910499571847892992/);
    assert.equal(await page.evaluate('window.replaced'), 1);
    await field.fill('910499571847892993');
    await page.waitForFunction(() => window.replaced === 2);
    await page.getByText('910499571847892993').first().waitFor();
  });

  await t.test('copy buttons work without the clipboard of secure pages', async (t) => {
    const page = await openPage(t, started, { hash: '#id=910499571847892992' });
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await page.getByRole('button', { name: 'Copy base62' }).click();
    const status = (text) => page.getByRole('status').filter({ hasText: text }).waitFor();
    await status('Copied base62.');
    // The button gets the focus again.
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Copied base62');
    const [, text] = /base62\s+(\w+)/.exec(
      await page.getByRole('table', { name: 'Text forms' }).innerText(),
    );
    await page.getByRole('textbox', { name: 'ID', exact: true }).fill('');
    await page.getByRole('textbox', { name: 'ID', exact: true }).press('Control+V');
    assert.equal(await page.getByRole('textbox', { name: 'ID', exact: true }).inputValue(), text);
    await page.getByRole('textbox', { name: 'ID', exact: true }).fill('1');
    await page.evaluate(() => {
      document.execCommand = () => false;
    });
    await page.getByRole('button', { name: 'Copy base58', exact: true }).click();
    await status('The browser did not copy base58');
    await page.getByRole('button', { name: 'Not copied base58' }).waitFor();
  });

  await t.test('pasted IDs are assigned to a system', async (t) => {
    const page = await openPage(t, started);
    await panel(page, 'Which system?');
    const field = page.getByRole('textbox', { name: 'IDs' });
    await field.fill('175928847299117063\n41771983423143937\n81384788765712384');
    const fits = page.getByRole('table', { name: 'Layouts that fit' });
    await fits.getByRole('row', { name: /discord/ }).waitFor();
    await page.getByRole('table', { name: 'Layouts that do not fit' }).waitFor();
    await page.getByRole('button', { name: 'Use the layout discord' }).click();
    assert.equal(await page.getByRole('combobox', { name: 'Layout' }).inputValue(), 'discord');
    await field.fill('no');
    await page.getByRole('alert').filter({ hasText: 'FLAKEID_INVALID_ID' }).waitFor();
    assert.equal(await fits.count(), 0);
    await field.fill(' ');
    await page
      .getByRole('alert')
      .filter({ hasText: 'FLAKEID_INVALID_ID' })
      .waitFor({ state: 'hidden' });
    // Only the first of many IDs are evaluated, and fewer are in the address.
    const ids = Array.from(
      { length: 200_000 },
      (_, at) => 175928847299117063n + (BigInt(at) << 22n),
    );
    await page.evaluate((text) => navigator.clipboard.writeText(text), ids.join('\n'));
    await field.press('Control+V');
    await page.getByText('Only the first 1,000 IDs were evaluated.').waitFor();
    await fits.getByRole('row', { name: /discord/ }).waitFor();
    assert.equal((await field.inputValue()).trim().split('\n').length, 1000);
    await page.waitForURL(({ hash }) => {
      const inAddress = new URLSearchParams(hash.slice(1)).get('ids') ?? '';
      return inAddress.split('\n').length === 100;
    });
    // All IDs are kept when the user changes to another panel and back.
    await panel(page, 'Layout');
    await panel(page, 'Which system?');
    assert.equal((await field.inputValue()).trim().split('\n').length, 1000);
    await field.fill(ids.slice(0, 1001).join('\n'));
    await page.getByText('Only the first 1,000 IDs were evaluated.').waitFor();
    await field.fill('175928847299117063');
    await page.getByText('Only the first 1,000 IDs').waitFor({ state: 'hidden' });
  });

  await t.test('layouts are described and built', async (t) => {
    const page = await openPage(t, started, { hash: '#panel=layout&layout=sonyflake' });
    const facts = page.getByRole('table', { name: 'Capacity and limits' });
    assert.match(await facts.innerText(), /65,536.*\n.*chance of 1 in 1,000 from 12 processes/s);
    assert.match(await facts.innerText(), /25,600 IDs per second/);
    await page.getByLabel('Node bits').fill('8');
    await page.getByLabel('Sequence bits', { exact: true }).fill('14');
    await page.getByLabel('Epoch', { exact: true }).fill('2026-01-01T00:00:00Z');
    await page.getByLabel('Tick, in ms or s').fill('1ms');
    await page.getByLabel('Time bits').fill('41');
    await page.getByRole('button', { name: 'Use these bits' }).click();
    await facts.getByText('16,384,000 IDs per second').waitFor();
    assert.match(await facts.innerText(), /2095-09-07/);
    await page.getByLabel('Time bits').fill('60');
    await page.getByRole('button', { name: 'Use these bits' }).click();
    await page.getByRole('status').filter({ hasText: 'FLAKEID_INVALID_LAYOUT' }).waitFor();
  });

  await t.test('the builder reproduces every layout', async (t) => {
    const page = await openPage(t, started, { hash: '#panel=layout' });
    const choice = page.getByRole('combobox', { name: 'Layout' });
    const descriptor = page.locator('code');
    const presets = await page
      .locator('#presets option')
      .evaluateAll((options) => options.map((option) => [option.value, option.textContent]));
    assert.equal(presets.length, 13);
    const own = 't33.c2.n10.s10.r8@1577836800000/10ms';
    for (const [name, wanted] of [...presets, [own, own]]) {
      await choice.fill(name);
      await descriptor.getByText(wanted, { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Use these bits' }).click();
      assert.equal(await descriptor.innerText(), wanted, name);
    }
    // Another epoch changes nothing else, and a new field gets its default place.
    await choice.fill('sonyflake');
    await page.getByLabel('Epoch', { exact: true }).fill('2026-01-01T00:00:00Z');
    await page.getByRole('button', { name: 'Use these bits' }).click();
    assert.equal(await descriptor.innerText(), 't39.s8.n16@1767225600000/10ms');
    await choice.fill('twitter');
    for (const [label, bits] of [
      ['Datacenter bits', '0'],
      ['Worker bits', '0'],
      ['Node bits', '10'],
    ])
      await page.getByLabel(label).fill(bits);
    await page.getByRole('button', { name: 'Use these bits' }).click();
    assert.equal(await descriptor.innerText(), 't41.n10.s12@1288834974657/1ms');
  });

  await t.test('time ranges show bounds, SQL and warnings', async (t) => {
    const page = await openPage(t, started, { hash: '#panel=range' });
    await page.getByLabel('From').fill('2026-01-01');
    await page.getByLabel('To', { exact: true }).fill('2026-01-31T23:59:59.999Z');
    const sql = page.locator('pre', { hasText: 'WHERE' });
    const [lower, upper] = (await sql.innerText()).match(/\d{10,}/g).map(BigInt);
    assert.equal(lower >> 22n, 1_767_225_600_000n - 1_288_834_974_657n);
    assert.equal(upper >> 22n, 1_769_903_999_999n - 1_288_834_974_657n);
    await page.getByLabel('To', { exact: true }).fill('');
    await page.getByLabel('Column').fill('order_id');
    await page.getByText(`WHERE order_id >= ${lower}`).waitFor();
    const refusal = (text) => page.getByRole('alert').filter({ hasText: text }).waitFor();
    await page.getByLabel('From').fill('yesterday');
    await refusal('is not a time');
    // The page rejects the same input as the command, and shows the same warnings.
    await page.getByLabel('From').fill('2026-02-01');
    await page.getByLabel('To', { exact: true }).fill('2026-01-31');
    await refusal('is after to 2026-01-31');
    assert.equal(await sql.count(), 0);
    await page.getByLabel('To', { exact: true }).fill('2100-01-01');
    await page
      .getByText(/^Warning: to 2100-01-01T00:00:00Z is not before the layout's end/)
      .waitFor();
    await page.getByRole('combobox', { name: 'Layout' }).fill('discord');
    await page.getByLabel('To', { exact: true }).fill('2090-01-01');
    await page.getByText(/^Warning: \d+ is above 2\^63/).waitFor();
    await page.getByLabel('To', { exact: true }).fill('');
    await page.getByLabel('From').fill('2026');
    await page.getByText(/^Warning: from 2026 was interpreted as Unix milliseconds/).waitFor();
    await page
      .getByText(/^Warning: from 1970-01-01T00:00:02.026Z is before the layout's/)
      .waitFor();
    // Only the name of a column is copied into the SQL, also if it comes from a link.
    for (const [column, isName] of [
      ['orders."order id"', true],
      ['id = id OR id', false],
      ['id;', false],
    ]) {
      const from = `#panel=range&from=2026-01-01&column=${encodeURIComponent(column)}`;
      const linked = await openPage(t, started, { hash: from });
      if (isName) await linked.getByText(`WHERE ${column} >= `).waitFor();
      else {
        const alert = linked.getByRole('alert').filter({ hasText: 'is not a column name' });
        await alert.waitFor();
        assert.equal(await linked.locator('pre', { hasText: 'WHERE' }).count(), 0);
      }
    }
  });

  await t.test('IDs are encrypted and decrypted with the keys', async (t) => {
    const page = await openPage(t, started, { hash: '#panel=public' });
    await page.getByRole('button', { name: 'New key' }).click();
    const key = await page.getByLabel('Key').inputValue();
    assert.match(key, /^a [0-9a-f]{32}$/);
    await page.getByLabel('Prefix').fill('usr');
    await page.getByLabel('ID', { exact: true }).last().fill('1050118621198921728');
    await page.getByRole('button', { name: 'Encrypt' }).click();
    const sealed = await page.locator('output').innerText();
    assert.match(sealed, /^usr_a[1-9A-HJ-NP-Za-km-z]{11}$/);
    await page.getByLabel('Public ID', { exact: true }).fill(sealed);
    await page.getByRole('button', { name: 'Decrypt' }).click();
    await page.locator('output', { hasText: '1050118621198921728' }).waitFor();
    // One key in nine decrypts a public ID of another key to some ID. With the second of these
    // keys, the sign bit of the result is set.
    await page.getByLabel('Key').fill('a 000102030405060708090a0b0c0d0e0f');
    await page.getByRole('button', { name: 'Encrypt' }).click();
    await page.getByLabel('Public ID', { exact: true }).fill('usr_aX57mtt4yXEM');
    await page.locator('output', { hasText: 'usr_aX57mtt4yXEM' }).waitFor();
    await page.getByLabel('Key').fill('a ffeeddccbbaa99887766554433221100');
    await page.getByRole('button', { name: 'Decrypt' }).click();
    await page.getByRole('alert').filter({ hasText: 'FLAKEID_INVALID_ID' }).waitFor();
    // In a keyring after a rotation, the last key encrypts, and the first one still decrypts.
    const [first, second] = [
      '000102030405060708090a0b0c0d0e0f',
      '00112233445566778899aabbccddeeff',
    ];
    await page.getByLabel('Key').fill(`a ${first}\nb ${second}\n`);
    await page.getByLabel('Public ID', { exact: true }).fill('usr_aX57mtt4yXEM');
    await page.getByRole('button', { name: 'Decrypt' }).click();
    await page.locator('output', { hasText: '1050118621198921728' }).waitFor();
    await page.getByRole('button', { name: 'Encrypt' }).click();
    await page.locator('output', { hasText: /^usr_b/ }).waitFor();
    assert.equal(await page.getByLabel('Key').getAttribute('autocomplete'), 'off');
    // The address changes after a shorter pause.
    await page.waitForTimeout(500);
    for (const text of [key.slice(2), first, second])
      assert.ok(!page.url().includes(text), 'the key is in the address');
  });

  await t.test('generated IDs are distinct and ordered', async (t) => {
    const page = await openPage(t, started, { hash: '#panel=generate&node=7&count=1000' });
    await page.getByRole('button', { name: 'Generate IDs' }).last().click();
    const shown = page.getByLabel('The IDs', { exact: true });
    await shown.waitFor();
    const generated = await shown.innerText();
    const ids = generated.split('\n').map(BigInt);
    assert.equal(new Set(ids).size, 1000);
    assert.ok(
      ids.every((id, at) => ((id >> 12n) & 1023n) === 7n && (at === 0 || id > ids[at - 1])),
    );
    await page.getByLabel('Node', { exact: true }).fill('1024');
    await page.getByRole('button', { name: 'Generate IDs' }).last().click();
    const refusal = (text) => page.getByRole('alert').filter({ hasText: text }).waitFor();
    await refusal('must be from 0 to 1023');
    for (const [label, value, part] of [
      [/^Node$/, '1.5', /node.*1\.5/],
      [/^Node$/, '1e3', /from 0 to 1023/],
      [/^Node$/, '', /from 0 to 1023/],
      [/^Number of IDs/, '2.5', /from 1 to 1000/],
      [/^Number of IDs/, '1001', /from 1 to 1000/],
      [/^Number of IDs/, '0', /from 1 to 1000/],
    ]) {
      await page.getByLabel('Node', { exact: true }).fill('7');
      await page.getByLabel(/^Number of IDs/).fill('3');
      await page.getByLabel(label).fill(value);
      await page.getByRole('button', { name: 'Generate IDs' }).last().click();
      await refusal(part);
      assert.equal(await shown.isVisible(), false);
    }
  });

  await t.test(
    'generation with a slow layout shows its progress and can be cancelled',
    async (t) => {
      const layout = 't41.n10.s1@2020-01-01T00:00:00Z/1s';
      const page = await openPage(t, started, {
        hash: `#panel=generate&layout=${layout}&count=1000`,
      });
      const make = page.getByRole('button', { name: 'Generate IDs' }).last();
      const progress = page.getByRole('progressbar');
      await make.click();
      await page.getByText(/^[24] of 1000 IDs$/).waitFor();
      assert.equal(await progress.isVisible(), true);
      // A second loop would generate the same number again.
      await make.click({ force: true });
      await page.getByText(/^6 of 1000 IDs$/).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).last().click();
      await page.getByText(/^Cancelled; \d+ IDs generated\.$/).waitFor();
      assert.equal(await progress.isVisible(), false);
      const ids = (await page.getByLabel('The IDs', { exact: true }).innerText()).split('\n');
      assert.equal(new Set(ids).size, ids.length);
      assert.ok(ids.length >= 6 && ids.length <= 10, `${ids.length} IDs`);
      // Another run is possible, and continues after the previous IDs.
      await page.getByLabel(/^Number of IDs/).fill('1');
      await make.click();
      await page.getByText('1 ID generated.', { exact: true }).waitFor();
      assert.ok(!ids.includes(await page.getByLabel('The IDs', { exact: true }).innerText()));
    },
  );
});
