// @module-tag slow
import { agentTool, defineAgent } from 'lanefold';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { expectAccessible, openSite, type OpenPage, type Site } from './harness.ts';

const researcher = defineAgent({ name: 'researcher', model: 'scripted:["Berlin is large."]' });
const ask = { tool: 'ask_researcher', args: { task: 'How large is Berlin?' } };
const editor = defineAgent({
  name: 'editor',
  model: `scripted:${JSON.stringify([{ tools: [ask] }, 'Done.'])}`,
  tools: [agentTool(researcher, { description: 'Finds facts.' })],
});

describe.skipIf(noBrowser)('lists are filtered and walked', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  beforeAll(async () => {
    site = await openSite({ agents: [researcher, editor] });
    ({ page, go } = await site.open());
    const { runs } = site.api.lanefold;
    const short = { agent: 'travel', threadId: 'short', createThread: true, input: 'Too short', maxIterations: 1 };
    await runs.wait(await runs.enqueue(short));
    await runs.wait(await runs.enqueue({ agent: 'editor', threadId: 'article', createThread: true, input: 'Write' }));
    await site.ask('first', 'Should I go to Hamburg?');
    await site.ask('second', 'And Munich?');
    await site.ask('broken', 'This fails', 'travel', 'broken:model');
  });
  afterAll(() => site?.close());

  const focused = (what: string) => page.locator(`${what}:focus`).first().waitFor();
  const hash = () => new URL(page.url()).hash;

  test('a filter is chosen from a menu, in the words of the columns', async () => {
    await go('#/runs');
    await page.getByText('This fails').waitFor();
    await page.keyboard.press('/');
    await focused('input[type=search]');
    await page.getByText('Add filter').click();
    await page.getByRole('button', { name: 'Status', exact: true }).click();
    await page.getByRole('button', { name: /^needs approval/ }).waitFor();
    await expectAccessible(page, 'the values of a filter');
    await page.getByRole('button', { name: /^failed/ }).click();
    await page.getByText('And Munich?').waitFor({ state: 'detached' });
    expect(hash()).toBe('#/runs?status=failed');
    await page.getByRole('button', { name: 'Status failed' }).waitFor();
  });

  test('a run without an answer says so, and is found by what the line of counts says', async () => {
    await go('#/runs');
    const row = page.locator('tbody tr', { hasText: 'Too short' });
    await row.getByText('no answer').waitFor();
    await row.getByText('max iterations').waitFor();
    await page.locator('.facets a', { hasText: 'ended early 1' }).click();
    await page.getByText('And Munich?').waitFor({ state: 'detached' });
    expect(hash()).toBe('#/runs?mark=ended_early');
    await page.locator('.facets [aria-current]').click();
    await page.getByText('And Munich?').waitFor();
  });

  test('runs that another run has started are folded below it, and lead to its call', async () => {
    await go('#/runs');
    await page.getByText('Write', { exact: true }).waitFor();
    expect(await page.locator('.preview', { hasText: 'How large is Berlin?' }).count()).toBe(0);
    await page.getByRole('button', { name: '+1 sub-run' }).click();
    await expectAccessible(page, 'sub-runs');
    await page.getByRole('link', { name: /^Run of researcher/ }).click();
    await page.getByText('Called by a').getByRole('link', { name: 'model call 1' }).click();
    await page.locator('[data-verdict=verified]').waitFor();
  });

  test('threads that a thread has started are folded below it', async () => {
    await go('#/threads');
    await page.getByText('Write', { exact: true }).waitFor();
    expect(await page.locator('.preview', { hasText: 'How large is Berlin?' }).count()).toBe(0);
    await page.getByRole('button', { name: '+1 sub-thread' }).click();
    await page.locator('tr.sub').getByText('How large is Berlin?').waitFor();
    await expectAccessible(page, 'sub-threads');
    await page.locator('tr.sub .row-link').click();
    await page.locator('.virtual').getByText('Berlin is large.').waitFor();
  });

  test('runs are found by what users wrote in their threads, and the counts are those of the search', async () => {
    await go('#/runs?text=short');
    await page.locator('tbody tr', { hasText: 'Too short' }).waitFor();
    await page.locator('.facets a', { hasText: 'ended early 1' }).waitFor();
    await page.getByText('And Munich?').waitFor({ state: 'detached' });
    await go('#/threads?text=Munich');
    await page.locator('tbody tr', { hasText: 'And Munich?' }).waitFor();
    expect(await page.locator('.facets a').count()).toBe(0);
  });

  test('a part of a bar leads to its runs: those of the slot that failed', async () => {
    await go('#/operations?agent=travel&hours=1');
    const failed = page.getByRole('group', { name: 'Runs over time' }).getByRole('link', { name: /: 1 failed$/ });
    await failed.focus();
    await page.keyboard.press('ArrowDown');
    await focused('[data-slot]');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByText('This fails').waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    const query = new URLSearchParams(hash().split('?')[1]);
    expect(Object.fromEntries(query)).toMatchObject({ status: 'failed', agent: 'travel', children: 'true' });
    const [from, to] = ['created_after', 'created_before'].map((name) => Date.parse(query.get(name)!));
    expect(to! - from!).toBe(60_000);
  });

  test('the menu of the page returns to the list as it was left', async () => {
    await go('#/runs?status=failed');
    await page.getByText('This fails').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Approvals' }).click();
    await page.getByText('No tool call waits').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
    await page.getByText('This fails').waitFor();
    expect(hash()).toBe('#/runs?status=failed');
  });

  test('filters are kept under a name, until they are removed', async () => {
    await go('#/threads?agent=travel');
    await page.getByText('View: own filters').click();
    await page.getByLabel('Keep these filters as').fill('<b>Trips</b>');
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('View: <b>Trips</b>').waitFor();
    await expectAccessible(page, 'saved views');
    await page.getByRole('link', { name: 'Failed', exact: true }).click();
    await page.getByText('And Munich?').waitFor({ state: 'detached' });
    expect(hash()).toBe('#/threads?status=failed');
    await page.getByText('View: Failed').click();
    await page.getByRole('link', { name: '<b>Trips</b>' }).click();
    await page.getByText('And Munich?').waitFor();
    expect(hash()).toBe('#/threads?agent=travel');
    await page.getByText('View: <b>Trips</b>').click();
    await page.getByRole('button', { name: 'Remove the view <b>Trips</b>' }).click();
    await page.getByText('View: own filters').waitFor();
  });

  test('keys lead from the list to a thread, to a call, and back', async () => {
    await go('#/threads');
    await page.getByText('And Munich?').waitFor();
    await page.keyboard.press('j');
    await focused('.row-link:has-text("broken")');
    await page.keyboard.press('ArrowDown');
    await focused('.row-link:has-text("second")');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.locator('.virtual').getByText('Take an umbrella.').waitFor();
    await page.keyboard.press('k');
    await focused('.entry-links > a:has-text("What was sent")');
    await page.keyboard.press('Enter');
    await page.locator('[data-verdict=verified]').waitFor();
    await page.keyboard.press('u');
    await page.getByText('Waited for a worker').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.virtual').getByText('Take an umbrella.').waitFor();
    await page.keyboard.press('u');
    await page.getByText('This fails').waitFor();
    expect(hash()).toBe('#/threads');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await expectAccessible(page, 'keys');
    await page.keyboard.press('Escape');
    expect(hash()).toBe('#/threads');
  });

  test('on a phone, the menu is behind the name of the view', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await go('#/operations');
    const menu = page.getByRole('button', { name: 'Menu: Operations' });
    await menu.click();
    const items = page.getByRole('navigation', { name: 'Areas' }).getByRole('link');
    for (const item of await items.all()) {
      const { x, width } = (await item.boundingBox())!;
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(390);
    }
    await expectAccessible(page, 'menu');
    await items.filter({ hasText: 'Limits' }).click();
    await page.getByRole('button', { name: 'Menu: Limits', expanded: false }).waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('all runs of a filter are asked again at once, or counted by an alarm', async () => {
    await go('#/runs');
    await page.getByText('This fails').waitFor();
    expect(await page.getByText('Act on all…').count()).toBe(0);
    await go('#/runs?status=failed');
    await page.getByText('Act on all…').click();
    await page.getByRole('button', { name: 'Retry…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Runs that have ended: 1, such as').waitFor();
    await expectAccessible(page, 'an act on all runs');
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText('1 started again, 0 unchanged, 0 refused.').waitFor();
    await page.getByText('Act on all…').click();
    await page.getByRole('button', { name: 'Make an alarm' }).click();
    await dialog.getByLabel('Name').fill('failures');
    await expectAccessible(page, 'a new alarm');
    await dialog.getByRole('button', { name: 'Make an alarm' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('navigation').getByRole('link', { name: 'Alarms' }).click();
    await page.getByRole('link', { name: 'status: failed, without sub-runs' }).click();
    await page.getByText('This fails').first().waitFor();
    expect(hash()).toBe('#/runs?status=failed');
  });
});
