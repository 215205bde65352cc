// @module-tag slow
import { createLanefold, type RunningWorker } from 'lanefold';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { expectAccessible, openSite, type OpenPage, type Site } from './harness.ts';

describe.skipIf(noBrowser)('workers on the page', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  beforeAll(async () => {
    site = await openSite({ worker: false });
    ({ page, go } = await site.open());
  });
  afterAll(() => site?.close());

  const show = async (address: string, text: string) => {
    await go(`#/${address}`);
    await page.getByText(text).first().waitFor();
  };
  const workers = () => page.locator('section[aria-labelledby=workers]');

  test('no worker is alive: the run says so, the lists in which it waits, and the operations', async () => {
    const run = await site.ask('alone', 'Is anybody there?', 'noting');
    await show(`threads/alone/runs/${run}`, 'no worker is alive');
    await expectAccessible(page, 'run');
    await show('runs', 'No worker is alive to take runs.');
    await show('threads', 'No worker is alive to take runs.');
    await show('threads/alone', 'No worker is alive to take runs.');
    await expectAccessible(page, 'threads');
    await show('operations', 'no worker is alive');
    await workers().getByText('No worker is alive').waitFor();
    expect(site.faults).toEqual([]);
  });

  test('some are alive, and none knows the agent; then one that does is idle, and stops', async () => {
    const other = await createLanefold({ ...site.api.lanefold.options, agents: [] });
    await other.startWorker();
    // what is to start later waits for no worker yet
    const { runs } = site.api.lanefold;
    await runs.enqueue({
      agent: 'booking',
      threadId: 'later',
      input: 'Book it.',
      delayMs: 3_600_000,
      createThread: true,
    });
    const run = await site.ask('unknown', 'Who knows me?', 'noting');
    for (const list of ['runs', 'threads', 'threads/unknown'])
      await show(list, 'No worker that is alive knows the agent noting.');
    await show(`threads/unknown/runs/${run}`, 'no live worker knows its agent "noting"');
    await other.close();
    const worker: RunningWorker = await site.api.lanefold.startWorker();
    await until('the run has ended', async () => {
      const { status } = await site.api.lanefold.runs.get({ threadId: 'unknown', id: run });
      return status === 'completed';
    });
    await show('operations', 'busy workers');
    await page.getByText('0 of 1', { exact: true }).waitFor();
    await workers()
      .getByRole('row', { name: `${worker.id} alive` })
      .waitFor();
    await expectAccessible(page, 'operations');
    await show('runs', 'noting');
    expect(await page.getByText('No worker').count()).toBe(0);
    await worker.stop();
    await show('operations', 'no worker is alive');
    await workers()
      .getByRole('row', { name: `${worker.id} stopped` })
      .waitFor();
    expect(site.faults).toEqual([]);
  });
});
