// @module-tag slow
import { defineAgent } from 'lanefold';
import { defineScorer } from 'lanefold/evals';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { treeModel } from '../support/tree-model.ts';
import { until } from '../support/until.ts';
import { expectAccessible, ofColours, ofLayout, openSite, type OpenPage, type Site } from './harness.ts';

const slowModel = 'scripted:["done"]?latency_ms=600000';

describe.skipIf(noBrowser)('the views of the page', () => {
  let site: Site;
  let runId: string;
  let awaiting: string;
  let priced: string;
  let searching: string;
  let held: string;
  let evalId: string;
  let caseId: string;
  let page: Page;
  let said: OpenPage['said'];
  beforeAll(async () => {
    const tree = treeModel();
    site = await openSite({
      models: { tree },
      options: { scorers: [defineScorer({ name: 'curt', score: ({ answer }) => answer.length < 9 })] },
      agents: [defineAgent({ name: 'searcher', model: 'tree', strategy: 'tot', strategyOptions: { maxDepth: 2 } })],
    });
    ({ page, said } = await site.open());
    const { limits, runs } = site.api.lanefold;
    await site.api.lanefold.schedules.set('nightly', {
      agent: 'travel',
      input: 'Weather of {{date}}?',
      cron: '0 2 * * *',
      timeZone: 'Europe/Berlin',
    });
    await site.api.lanefold.alarms.set('many', { filter: {}, moreThan: 10, share: 0.2, withinMs: 600_000 });
    await site.api.lanefold.webhooks.set('orders', { url: 'https://1.1.1.1/hooks', types: ['run.completed'] });
    await site.api.lanefold.webhooks.pause('orders');
    await site.api.lanefold.monitors.set('curtness', {
      agents: ['travel'],
      sample: 1,
      scorers: ['curt'],
      alert: { below: 0.9, of: 2 },
    });
    await limits.set('hourly', { kind: 'tokens', scope: { agent: '*' }, amount: 1_000_000, per: 'hour' });
    await limits.set('closed', { kind: 'concurrency', amount: 0, scope: { plan: 'free' }, shareBy: 'customer' });
    runId = await site.ask('trip', 'Should I go to Hamburg?');
    await site.api.lanefold.contexts.replace('trip', { entries: [{ role: 'user', content: 'In short: by train.' }] });
    await site.api.lanefold.threads.configure('trip', { systemPrompt: 'Be very brief.' });
    await site.ask('trip', 'And Munich?');
    priced = await site.ask('priced', 'What does it cost?', 'travel', 'openai:gpt-4o');
    searching = await site.ask('search', 'How do I get there?', 'searcher');
    await site.ask('lanes', 'On the first lane');
    await site.api.lanefold.contexts.switch('lanes', 'draft');
    await site.ask('lanes', 'On the second lane');
    await site.ask('broken', 'This fails', 'travel', 'broken:model');
    awaiting = await site.ask('order', 'Book the 10:12', 'booking');
    ({ id: held } = await runs.enqueue({
      threadId: 'held',
      createThread: true,
      agent: 'travel',
      input: 'Let me in',
      limitKeys: { plan: 'free', customer: 'acme' },
    }));
    const { cases, evals } = site.api.lanefold;
    ({ id: caseId } = await cases.keep({
      threadId: 'trip',
      llmCallId: `${runId}.2`,
      dataset: 'weather',
      tags: ['rain'],
      note: 'Short.',
      expected: { contains: ['umbrella'], tool: { name: 'weather', arguments: { city: 'Hamburg' } } },
    }));
    ({ id: evalId } = await evals.run({
      dataset: 'weather',
      variants: [{ name: 'planned' }, { name: 'sunny', model: 'second' }],
    }));
    await evals.wait(evalId);
    await until('the run waits', async () => {
      const run = await runs.get({ threadId: 'order', id: awaiting });
      return run.status === 'suspended';
    });
  });
  afterAll(() => site?.close());
  beforeEach(async () => {
    await page.goto('about:blank');
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  // the ids of runs are known once the tests run
  const views: [view: string, address: string, text: string][] = [
    ['threads', '#/threads', 'This fails'],
    ['thread', '#/threads/trip', 'And Munich?'],
    ['thread with lanes', '#/threads/lanes', 'On the second lane'],
    ['thread of the past', '#/threads/trip?at=2', 'Should I go to Hamburg?'],
    ['context', '#/threads/trip?tab=context', 'Be very brief.'],
    ['model call', '#/threads/trip/calls/RUN.2', 'Hash verified'],
    ['run', '#/threads/trip/runs/RUN', 'Waited for a worker'],
    ['suspended run', '#/threads/order/runs/AWAITING', 'with these arguments?'],
    ['run of a tree', '#/threads/search/runs/SEARCHING', 'Findings'],
    ['runs', '#/runs', 'travel'],
    ['approvals', '#/approvals', 'with these arguments?'],
    ['operations', '#/operations', 'Active'],
    ['schedules', '#/schedules', 'nightly'],
    ['webhooks', '#/webhooks', 'orders'],
    ['agents', '#/agents', 'There is one version.'],
    ['evals', '#/evals', 'weather'],
    ['eval', '#/evals/EVAL', 'Only what got worse'],
    ['comparison in an eval', '#/evals/EVAL/variants/sunny', 'sunny compared with planned'],
    ['case in an eval', '#/evals/EVAL/CASE', 'The sun shines all day.'],
    // runs are scored some seconds after their end; until then the page reads again
    ['monitors', '#/monitors', 'Worst runs'],
    ['alarms', '#/alarms', 'more than 10 runs and 20% of all within 10 min'],
    ['limits', '#/limits', 'acme: 1'],
    ['thread of a run that waits for a limit', '#/threads/held', 'closed'],
    ['run that waits for a limit', '#/threads/held/runs/HELD', 'Wait for the limit closed'],
  ];
  const open = async (address: string, text: string) => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(
      `${site.api.url}/${address.replace('RUN', runId).replace('AWAITING', awaiting).replace('SEARCHING', searching).replace('HELD', held).replace('EVAL', evalId).replace('CASE', caseId)}`,
    );
    await page.getByText(text).first().waitFor();
  };

  test.each(views)('%s: fits a phone, and asks nothing of other hosts', async (_, address, text) => {
    await open(address, text);
    await page.setViewportSize({ width: 360, height: 800 });
    const beyond = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(beyond).toBe(0);
    expect(site.faults).toEqual([]);
  });

  test.each(views)(
    '%s: accessible in light, in the dark and on a phone',
    { tags: 'long' },
    async (_, address, text) => {
      await open(address, text);
      await expectAccessible(page, 'light');
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectAccessible(page, 'dark', ofColours);
      await page.setViewportSize({ width: 390, height: 844 });
      await expectAccessible(page, 'phone', ofLayout);
    },
  );

  test('the limits show which runs hold them', async () => {
    await site.api.lanefold.limits.set('open', { kind: 'concurrency', amount: 5, scope: { plan: 'paid' } });
    const run = await site.api.lanefold.runs.enqueue({
      threadId: 'holder',
      createThread: true,
      agent: 'travel',
      input: 'Wait',
      model: slowModel,
      limitKeys: { plan: 'paid' },
    });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${site.api.url}/#/limits`);
    const toggle = page.getByRole('button', { name: 'Runs that hold open' });
    await toggle.click();
    const table = page.getByRole('table', { name: 'Runs that hold open' });
    await table.getByRole('link', { name: run.id }).waitFor();
    await expectAccessible(page, 'holders');
    await site.api.lanefold.runs.cancel(run);
    await page.getByText('No run holds anything of it.').waitFor();
    await toggle.click();
    await page.getByText('No run holds anything of it.').waitFor({ state: 'detached' });
    await site.api.lanefold.limits.remove('open');
  });

  test('show the log as of an earlier entry, and the context of that moment', async () => {
    await page.goto(`${site.api.url}/#/threads/trip`);
    await said('And Munich?').waitFor();
    await page.getByText('Context replaced (manual): 1 message').waitFor();
    await page.getByLabel('As of entry').fill('1');
    await said('And Munich?').waitFor({ state: 'detached' });
    await said('Should I go to Hamburg?').waitFor();
    expect(await page.getByText('Context replaced').count()).toBe(0);
    await page.getByRole('tab', { name: 'What the model sees' }).click();
    await page.locator('.messages .entry').nth(1).waitFor();
    await expect.poll(() => page.locator('.messages .entry').count()).toBe(2);
    await page.getByRole('button', { name: 'Now' }).click();
    await page.getByText('In short: by train.').waitFor();
  });

  test('show the lanes of a thread as tabs, by keyboard too', async () => {
    await page.goto(`${site.api.url}/#/threads/trip`);
    await said('And Munich?').waitFor();
    expect(await page.getByRole('tablist', { name: 'Lanes' }).count()).toBe(0);
    await page.goto(`${site.api.url}/#/threads/lanes`);
    const lanes = page.getByRole('tablist', { name: 'Lanes' });
    await lanes.getByRole('tab', { name: 'All lanes', selected: true }).focus();
    await said('On the second lane').waitFor();
    await page.keyboard.press('ArrowRight');
    await lanes.getByRole('tab', { name: 'default', selected: true }).waitFor();
    await said('On the second lane').waitFor({ state: 'detached' });
    await said('On the first lane').waitFor();
    await lanes.getByRole('tab', { name: 'draft' }).click();
    await said('On the first lane').waitFor({ state: 'detached' });
    await said('On the second lane').waitFor();
    await page.getByRole('tab', { name: 'What the model sees' }).click();
    await lanes.getByRole('tab', { name: 'Active (draft)' }).waitFor();
  });

  test.each([
    ['threads', 'And Munich?', 'No threads match'],
    ['runs', 'travel', 'No runs match'],
  ])('filter %s by time', async (view, some, none) => {
    await page.goto(`${site.api.url}/#/${view}`);
    await page.getByText(some).first().waitFor();
    const set = async (filter: string, at: string) => {
      await page.getByText('Add filter').click();
      await page.getByRole('button', { name: filter, exact: true }).click();
      await page.getByLabel(filter, { exact: true }).fill(at);
      await page.getByRole('button', { name: 'Apply' }).click();
    };
    await set('Since', '2020-02-03T04:05');
    await page.waitForURL(/created_after=2020-02-0/);
    await page.getByText(some).first().waitFor();
    await set('Before', '2021-02-03T04:05');
    await page.getByText(none).waitFor();
    await page.reload();
    await page.getByText(none).waitFor();
    await page.getByRole('button', { name: /^Before Feb 3, 2021/ }).click();
    await expect.poll(() => page.getByLabel('Before', { exact: true }).inputValue()).toBe('2021-02-03T04:05');
    await expectAccessible(page, 'a filter');
  });

  test('show what was spent over time, by the list prices of the models', async () => {
    await page.goto(`${site.api.url}/#/operations`);
    // 10 tokens in at 2.50 dollars a million, 5 out at 10
    const money = page.locator('figure', { hasText: '$0.000075, without' });
    await money.getByText('tokens that have no known price').waitFor();
    const bar = money.getByRole('group', { name: 'Cost over time' }).getByRole('link');
    expect(await bar.last().getAttribute('aria-label')).toContain('$0.000075 at list prices');
    // the axis too
    expect(await money.locator('.chart-axis').textContent()).toContain('$0.000075');
    // from a bar to its runs
    await bar.last().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/runs\?created_after=.+&created_before=/);
    await page.goBack();
    await page.getByRole('button', { name: 'As a table' }).click();
    await page.getByRole('columnheader', { name: 'Wait p95' }).waitFor();
    await expectAccessible(page, 'over time, as a table');
  });

  test('say why each message is in or out', async () => {
    const { threads, contexts } = site.api.lanefold;
    for (const question of ['First', 'Second', 'Third']) await site.ask('long', question);
    await threads.configure('long', { contextPolicy: { keepLastTurns: 1, maxMessages: 4 } });
    const { explain, meta, messages } = await contexts.project('long', { explain: true });
    expect(meta.entries_included).toBeLessThan(meta.entries_total);
    await page.goto(`${site.api.url}/#/threads/long?tab=context`);
    await page.getByText(`Why: ${meta.entries_included} of ${meta.entries_total} messages are sent`).click();
    const rows = (await page.locator('.fold tbody tr').allTextContents()).map((row) => row.replace(/\s+/g, ' '));
    expect(rows.length).toBe(explain!.length);
    for (const [i, { role, seq, included, reason }] of explain!.entries())
      expect(rows[i]).toContain(`${role} #${seq}${included ? 'in' : 'out'}${reason.replaceAll('_', ' ')}`);
    await expect.poll(() => page.locator('.messages .entry').count()).toBe(messages.length);
    await expectAccessible(page, 'explained');
    await page.getByRole('link', { name: 'user #1', exact: true }).click();
    await said('First').waitFor();
    await expect.poll(() => page.getByLabel('As of entry').inputValue()).toBe('1');
    await page.goBack();
    await page.locator('.messages .entry').first().waitFor();
    await expect.poll(() => page.getByLabel('As of entry').inputValue()).not.toBe('1');
  });

  test('show what a model call sent, verified in the browser, and what changed since the one before', async () => {
    await page.goto(`${site.api.url}/#/threads/trip/calls/${runId}.2`);
    await page.locator('[data-verdict=verified]').waitFor();
    expect(await page.locator('.facts .bad').count()).toBe(0);
    await page.getByRole('tab', { name: 'Diff to previous call' }).click();
    await page.getByText('2 messages unchanged').waitFor();
    await expect.poll(() => page.locator('.diff > .added').count()).toBe(2);
    await page.getByRole('tab', { name: 'Answer' }).click();
    await page.getByText('Take an umbrella.').waitFor();
  });

  test('show the share of the window, where the window of the model is known', async () => {
    await page.goto(`${site.api.url}/#/threads/priced/calls/${priced}.1`);
    // 10 of 128,000
    await page.locator('.facts', { hasText: /Share of window\s*0\.0078%/ }).waitFor();
  });

  test('show what the tools of a run changed in the state of its thread', async () => {
    let noted = '';
    for (const question of ['A seat', 'Another seat']) {
      noted = await site.ask('seats', question, 'noting');
      await site.api.lanefold.runs.wait({ threadId: 'seats', id: noted });
    }
    await page.goto(`${site.api.url}/#/threads/seats/runs/${noted}`);
    const effects = page.getByRole('region', { name: 'Effects on state' });
    await effects.getByText('{"op":"set_path","path":["trip","seat"],"value":"7A"}').waitFor();
    await effects.getByText('note', { exact: true }).waitFor();
    // those of the other run are not its own
    await expect.poll(() => effects.getByRole('listitem').count()).toBe(1);
    await expectAccessible(page, 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'dark', ofColours);
    await effects.getByRole('link').click();
    await page.getByText('Tools changed the state').first().waitFor();
  });

  test('show the tree of a strategy, with the way to its best thought', async () => {
    await page.goto(`${site.api.url}/#/threads/search/runs/${searching}`);
    await page.locator('.tree .best').nth(1).waitFor();
    const rows = page.locator('.tree > li');
    const titles = (await rows.locator('summary').allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim());
    expect(titles).toEqual(['3 expanded 0.80 By train', '7 best 0.90 By night', '8 0.30 By day', '4 0.40 By car']);
    await expect.poll(() => page.locator('.tree .best').count()).toBe(2);
    await page.getByText('Answers of the model (4)').click();
    await page.getByText('generate').first().waitFor();
  });

  test('turn the badge red when one byte of the context differs', async () => {
    await page.route('**/calls/*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace('Should I go', 'Should I gO') });
    });
    await page.goto(`${site.api.url}/#/threads/trip/calls/${runId}.2`);
    await page.locator('[data-verdict=altered]').waitFor();
    await page.unroute('**/calls/*');
    await page.getByText('These messages are not the ones that were sent.').waitFor();
  });

  test('can be walked by keyboard alone, to a model call and back, with the focus in sight', async () => {
    /** What has the focus, once something that tells it apart has; it is outlined. */
    const focused = async (what: string) => {
      await page.locator(`${what}:focus`).first().waitFor();
      const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
      expect(outline, what).toBe('solid');
    };
    const tabTo = async (what: string) => {
      for (let presses = 0; presses < 80; presses++) {
        await page.keyboard.press('Tab');
        if ((await page.locator(`${what}:focus`).count()) > 0) return focused(what);
      }
      throw new Error(`${what} is not reached`);
    };
    await page.goto(`${site.api.url}/#/threads`);
    await page.getByText('And Munich?').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('Hamburg');
    await page.getByText('This fails').waitFor({ state: 'detached' });
    await tabTo('.row-link');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'And Munich? trip' }).waitFor();
    await focused('h1');
    await tabTo('[role=tab]');
    await page.keyboard.press('ArrowRight');
    await page.locator('.messages .entry').first().waitFor();
    await focused('[role=tab][aria-selected=true]');
    await page.keyboard.press('ArrowLeft');
    await tabTo('.side-run');
    await page.keyboard.press('Enter');
    await page.getByText('Waited for a worker').waitFor();
    await focused('h1');
    await tabTo('.waterfall a');
    await page.keyboard.press('Enter');
    await page.locator('[data-verdict=verified]').waitFor();
    await focused('h1');
    await page.goBack();
    await focused('.waterfall a');
    await page.goBack();
    await focused('.side-run');
    await page.goBack();
    await focused('.row-link');
    await page.goForward();
    await focused('.side-run');
  });

  test('a menu opens, closes and is left by keyboard', async () => {
    await page.goto(`${site.api.url}/#/threads/trip`);
    const more = page.locator('.menu > summary');
    await more.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.locator('.menu-items > button:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.menu > summary:focus').waitFor();
    expect(await page.getByText('Erase the thread').isVisible()).toBe(false);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).click();
    await page.getByText('Erase the thread').waitFor({ state: 'hidden' });
  });
});
