// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { openSite, type Site } from './harness.ts';

describe.skipIf(noBrowser)('one look at the page', () => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site?.close());

  test('leads from the threads to what a model saw, and asks nothing of other hosts', async () => {
    const { page, said } = await site.open();
    const run = await site.ask('trip', 'Should I go to Hamburg?');
    await page.goto(`${site.api.url}/`);
    await page.getByText('Should I go to Hamburg?').first().click();
    await said('Take an umbrella.').waitFor();
    await page.goto(`${site.api.url}/#/threads/trip/calls/${run}.2`);
    await page.getByText('Hash verified').waitFor();
    expect(site.faults).toEqual([]);
  });

  test('shows what an entry of your own says, and all of the entry on a click', async () => {
    const { page } = await site.open();
    const { threads } = site.api.lanefold;
    await threads.create({ id: 'rated' });
    await threads.append('rated', [{ kind: 'rating', payload: { stars: 5 } }]);
    await page.goto(`${site.api.url}/#/threads/rated`);
    await page.getByText('rating {"stars":5}').click();
    await page.getByText('As stored').waitFor();
  });
});
