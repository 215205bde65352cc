// @module-tag long
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../../support/browser.ts';
import { expectAccessible, ofColours, openSite, type OpenPage, type Site } from '../harness.ts';
import { markedWorld } from './agents.ts';
import { faults, seedFaults } from './faults.ts';

/** Of each fault: what the list of threads says, what the list of runs says, and what the conversation says, where. */
const shown: Record<string, { thread: string; run?: string; says: [where: string, words: string | RegExp][] }> = {
  tool_failed: { thread: '1 tool failed', run: '1 tool failed', says: [['.entry.tool', 'Tool failed: refund']] },
  tool_retried: {
    thread: '1 tool retried',
    run: '1 tool retried',
    says: [['.entry.tool', 'Attempted 2 times']],
  },
  model_retried: {
    thread: 'model retried',
    run: 'model retried',
    says: [['.entry.assistant', 'Model call retried after: The provider is overloaded.']],
  },
  model_fell_back: {
    thread: 'fell back',
    run: 'fell back',
    says: [['.entry.assistant', 'fault:cheap answered instead of fault:down']],
  },
  model_overridden: {
    thread: 'model overridden',
    run: 'model overridden',
    says: [['.entry.user', 'fault:cheap instead of the agent’s fault:plain']],
  },
  cut: { thread: 'cut', run: 'cut', says: [['.entry.assistant', 'Cut by policy']] },
  cut_lifted: {
    thread: '2 × cache missed',
    run: 'cache missed',
    says: [['.entry.assistant', 'Cache missed: the policy left out different messages than before']],
  },
  cut_by_kind: { thread: 'cut', run: 'cut', says: [['.entry.assistant', 'Cut by policy']] },
  over_budget: {
    thread: 'over budget',
    run: 'over budget',
    says: [['.entry.assistant', 'Over budget: the messages the policy must keep exceed it']],
  },
  searched: { thread: '× cut', run: '× cut', says: [['.run-mark', /Run of searcher.*Cut by policy \(\d+ times\)/s]] },
  cache_missed: {
    thread: 'cache missed',
    run: 'cache missed',
    says: [['.entry.assistant', 'Cache missed: the context was replaced (#3)']],
  },
  steered: {
    thread: 'steered',
    run: 'steered',
    says: [['.entry.user', /Sent .+ by desk, reached the model .+ later/]],
  },
  prompt_changed: {
    thread: 'prompt changed',
    run: 'prompt changed',
    says: [
      ['.mark', /System prompt: Answer in German\.\s*by key:/],
      ['.mark', /System prompt: You help customers of a shop\.\s*from the agent plain/],
      ['.entry.assistant', 'Cache missed: the prompt changed (#3)'],
    ],
  },
  compacted: {
    thread: 'compacted',
    run: 'compacted',
    says: [['.mark', /Compacted: entries #1 to #4, 4 messages, are now a summary.*In short: all is well\./s]],
  },
  waiting: {
    thread: 'needs approval',
    says: [
      ['.run-mark', /Run of waiting\s*●\s*waits for approval until/],
      ['.run-mark', /Run of plain\s*●\s*waits for the run before it/],
    ],
  },
  failed: { thread: 'llm_request', says: [['.run-mark', /Run of failed\s*✕\s*failed: llm_request: out of credit/]] },
};

/** Where the mark leads, and what is there to see. */
const leads: Record<string, [mark: string, detail: string, text: string | RegExp]> = {
  tool_failed: ['tool_failed', '.fold:has(.tag.bad) summary', /refund\s*error/],
  tool_retried: ['tool_retried', '.fold summary', '2 attempts'],
  model_retried: ['model_retried', '.facts', /Failed attempts\s*1/],
  model_fell_back: ['model_fell_back', 'main', 'fault:down failed, then fault:cheap'],
  model_overridden: ['model_overridden', '.facts', /Model\s*fault:cheap/],
  cut: ['cut', '.notice', 'The policy left out entries'],
  cut_lifted: ['cut', '.notice', 'The policy left out entries'],
  cut_by_kind: ['cut', '.notice', 'It sends only'],
  over_budget: ['over_budget', '.notice', 'The messages it must keep exceed the budget.'],
  searched: ['cut', 'h1', 'How do we get there?'],
  cache_missed: ['cache_missed', '.notice', /Cache missed from message 2 on.*the context was replaced at entry #3/],
  steered: ['steered', '.messages .entry', 'Do not mention the strike.'],
  prompt_changed: ['cache_missed', '.notice', /Cache missed from message 1 on.*the prompt changed at entry #3/],
  compacted: ['cache_missed', '.notice', 'the context was replaced at entry #7'],
  waiting: ['waiting', 'main', 'Approve'],
  failed: ['failed', '.failure', 'out of credit'],
};

describe.skipIf(noBrowser)('marks are where people look', () => {
  const world = markedWorld();
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  let follow: OpenPage['follow'];
  let see: OpenPage['see'];
  beforeAll(async () => {
    site = await openSite({ agents: world.agents, models: world.models });
    await seedFaults(site.api, world);
    ({ page, go, follow, see } = await site.open());
  });
  afterAll(() => site?.close());

  const lightOnDesktop = async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 900 });
  };
  /** In light and dark, and on a phone. */
  const expectFit = async () => {
    await expectAccessible(page, 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'dark', ofColours);
    await page.setViewportSize({ width: 360, height: 800 });
    const beyond = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(beyond).toBe(0);
    await lightOnDesktop();
  };

  test.each(faults)('$fault: in the list, in the conversation, and in the view it leads to', async ({ fault }) => {
    const { thread, says } = shown[fault]!;
    await lightOnDesktop();
    await follow('#/threads');
    const row = page.locator('tbody tr').filter({ has: page.locator('.id', { hasText: new RegExp(`^${fault}$`) }) });
    await row.locator('.badge, .why, .status').filter({ hasText: thread }).first().waitFor();
    await row.locator('.row-link').click();
    for (const [where, words] of says) await see(where, words);
    const [mark, detail, text] = leads[fault]!;
    await page.locator(`[data-mark=${mark}]`).first().click();
    await see(detail, text);
    expect(site.faults).toEqual([]);
  });

  test('the list of runs has the marks of each', async () => {
    await lightOnDesktop();
    await follow('#/runs');
    for (const { fault } of faults) {
      const { run } = shown[fault]!;
      const row = page.locator('tbody tr', { hasText: fault }).locator('.badge');
      if (run) await row.filter({ hasText: run }).first().waitFor();
    }
  });

  test('a mark of a list leads to the first place', async () => {
    await go('#/threads');
    const row = page.locator('tr', { has: page.locator('.id', { hasText: /^cut$/ }) });
    await row.locator('[data-mark=cut]').click();
    await see('.notice', 'The policy left out entries');
    await go('#/threads');
    await page.locator('[data-mark=tool_failed]').first().click();
    await see('.entry.tool', 'Tool failed');
    await expect.poll(() => page.getByLabel('As of entry').inputValue()).toBe('3');
  });

  test('a run that ends while somebody watches is marked', async () => {
    const { runs, threads } = site.api.lanefold;
    await threads.create({ id: 'live' });
    await go('#/threads/live');
    await page.getByText('Live: pause').waitFor();
    await runs.enqueue({ agent: 'tool_failed', threadId: 'live', input: 'Once more.', model: 'fault:failed' });
    await see('.run-mark', 'failed: llm_request: out of credit');
    await see('.entry.user', 'fault:failed instead of the agent’s fault:tool_failed');
  });

  test('a run that ended without an entry has its place in time, and none where that is not in sight', async () => {
    const { runs, threads } = site.api.lanefold;
    const note = { message: { role: 'user' as const, content: 'A note.' } };
    await threads.create({ id: 'long' });
    await threads.append('long', [note]);
    const left = await runs.enqueue({ agent: 'plain', threadId: 'long', input: 'Later.', delayMs: 3_600_000 });
    await go('#/threads/long');
    await see('.run-mark', 'is delayed until');
    await runs.cancel(left, 'abandoned');
    await see('.run-mark', 'abandoned');
    await threads.append('long', [note]);
    // nothing announces what is appended without a run
    await page.reload();
    await see('.entry', '#1');
    await see('.run-mark', 'abandoned');
    const order = await page
      .locator('.run-mark, .entry')
      .evaluateAll((cards) => cards.map((card) => (card as unknown as { className: string }).className));
    expect(order.map((name) => name.includes('run-mark'))).toEqual([false, true, false]);
    await threads.append('long', new Array<typeof note>(300).fill(note));
    await go('#/threads/long?at=1');
    await see('.run-mark', 'abandoned');
    await page.getByRole('button', { name: 'Now' }).click();
    await see('.entry', '#301');
    expect(await page.locator('.run-mark').count()).toBe(0);
  });

  test('the tab of a lane has the runs of that lane', async () => {
    await go('#/threads/waiting?lane=other');
    await page.getByText('Nothing here yet').waitFor();
    await go('#/threads/waiting?lane=default');
    await see('.run-mark', 'waits for the run before it');
    await expect.poll(() => page.locator('.run-mark').count()).toBe(2);
  });

  test('a run that the list of runs does not have yet is not taken for one that has ended', async () => {
    await site.api.lanefold.threads.create({ id: 'race' });
    await page.route('**/v1/threads/race/runs?*', (request) =>
      request.fulfill({ json: { data: [], next_after: null } }),
    );
    await go('#/threads/race');
    await page.getByText('Live: pause').waitFor();
    const read = page.waitForResponse(/race\/marks/);
    await site.api.lanefold.runs.enqueue({ agent: 'held', threadId: 'race', input: 'Please pay B-1 back.' });
    await world.held.called.promise;
    await (await read).finished();
    await see('.entry.user', 'Please pay B-1 back.');
    world.held.mayAnswer.resolve();
    await see('.entry.tool', 'Tool failed: refund');
    await page.unrouteAll();
  });

  test('says that marks could not be read, until they can be', async () => {
    const { threads } = site.api.lanefold;
    await page.route('**/v1/threads/failed/marks?*', (request) => request.abort());
    await go('#/threads/failed');
    await page.getByRole('alert').waitFor();
    await page.unrouteAll();
    await threads.append('failed', [{ message: { role: 'user', content: 'Still there?' } }]);
    await site.api.lanefold.runs.enqueue({ agent: 'plain', threadId: 'failed', input: 'And now?' });
    await see('.run-mark', 'failed: llm_request');
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('the conversation of an earlier moment has the marks of that moment', async () => {
    await go('#/threads/cut?at=5');
    await see('.entry.user', 'And for dessert?');
    expect(await page.locator('[data-mark=cut]').count()).toBe(0);
    await page.getByRole('button', { name: 'Now' }).click();
    await see('.entry.assistant', 'Cut by policy');
    await go('#/threads/waiting?at=1');
    await see('.entry.user', 'Book the 10:12.');
    expect(await page.locator('[data-mark=waiting]').count()).toBe(0);
  });

  const everyFault = faults.map(({ fault }) => `#/threads/${fault}`);
  const accessible = async (address: string) => {
    await lightOnDesktop();
    await follow(address);
    await page.locator('.badge, .mark .tag').first().waitFor();
    await expectFit();
  };

  test.each(['#/threads', '#/runs', '#/threads/compacted', '#/threads/waiting'])(
    '%s: accessible in light and dark, and fits a phone',
    accessible,
  );

  test.each(everyFault)('%s: accessible by all rules', { tags: 'long' }, accessible);
});
