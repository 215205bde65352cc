// @module-tag slow
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { openSite, type OpenPage, type Site } from './harness.ts';

/** Of 10 tokens in and 5 out by the list price of `openai:gpt-4o`. */
const price = '$0.000075';

describe.skipIf(noBrowser)('what it costs', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  let see: OpenPage['see'];
  const runs: Record<string, string> = {};
  beforeAll(async () => {
    site = await openSite();
    ({ page, go, see } = await site.open());
    runs['local'] = await site.ask('local', 'Shall I take an umbrella?');
  });
  afterAll(() => site?.close());
  const row = (name: string) => page.locator('tbody tr', { hasText: name });

  test('is not nothing where the price of the model is unknown', async () => {
    await go('#/operations');
    await page.getByRole('group', { name: 'Cost over time' }).waitFor();
    await see('figcaption', 'tokens of models without a known price');
    for (const list of ['#/threads', '#/runs']) {
      await go(list);
      await row('local').getByText('unpriced', { exact: true }).waitFor();
    }
    await go(`#/threads/local/runs/${runs['local']}`);
    await see('.facts', 'unpriced');
    expect(await page.locator('body').textContent()).not.toContain('$');
  });

  test('is said of a run and of a thread, in lists too', async () => {
    const run = await site.ask('paid', 'And tomorrow?', 'travel', 'openai:gpt-4o');
    for (const list of ['#/threads', '#/runs']) {
      await go(list);
      await row('paid').getByText(price, { exact: true }).waitFor();
    }
    await site.ask('paid', 'Shall I take an umbrella?');
    await row('paid').getByText('unpriced').waitFor();
    await go(`#/threads/paid/runs/${run}`);
    await see('.facts', price);
    await go('#/threads/paid');
    await see('.side .facts', `${price} + unpriced`);
    await see('.side-row', price);
    expect(site.faults).toEqual([]);
  });
});
