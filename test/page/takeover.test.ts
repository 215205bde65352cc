// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningServer } from 'lanefold';
import type { Browser } from 'playwright-core';
import { startCrashHarness, type CrashHarness } from '../faults/crash-harness.ts';
import { quick } from '../faults/harness.ts';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { expectAccessible } from './harness.ts';

describe.skipIf(noBrowser)('the waterfall of a run whose worker was killed', () => {
  let harness: CrashHarness;
  let server: RunningServer;
  let browser: Browser;
  beforeAll(async () => {
    harness = await startCrashHarness();
    server = await harness.startServer({ port: 0 });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await harness?.close();
  });

  test('inside a tool: where it died, when that was noticed, and what was made again', async () => {
    const { run } = await harness.crash({ run: { during: ({ name }) => name === 'look', stored: 2 } }, quick);
    expect(run.events.filter(({ kind }) => kind === 'worker_lost')).toHaveLength(1);
    const page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    await page.goto(`${server.url}/#/threads/${run.threadId}/runs/${run.id}`);
    await page.locator('.span.down', { hasText: /Worker died noticed \d+\.\d s later/ }).waitFor();
    const down = await page.evaluate<string>(
      "getComputedStyle(document.querySelector('.span.down .span-bar')).backgroundImage",
    );
    expect(down).toContain('repeating-linear-gradient');
    const titles = (await page.locator('.span-title').allTextContents()).map((text) => text.trim());
    // the other tools of the round had ended, and only this one was made again
    expect(titles.slice(2, 7)).toEqual([
      'look the worker died here',
      'charge',
      'send',
      expect.stringMatching(/^Worker died/),
      'look',
    ]);
    await expectAccessible(page, 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'dark', ['color-contrast', 'link-in-text-block']);
  });
});
