// @module-tag long
import { agentTool, defineAgent, defineTool, handoffTool } from 'lanefold';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noBrowser } from '../support/browser.ts';
import { fakeModel, type FakeTurn } from '../support/fake-model.ts';
import { until } from '../support/until.ts';
import { openSite, type OpenPage, type Site } from './harness.ts';
import { markedWorld } from './marks/agents.ts';
import { seedFaults } from './marks/faults.ts';

/** More than the counts of marks look at, so that all faults are earlier. */
const cleanThreads = 5_100;
const mostClicks = 3;

const world = markedWorld();

const stock = defineTool({
  name: 'stock',
  input: z.object({ item: z.string() }),
  execute: ({ item }) => {
    if (item === 'all') throw new Error('The warehouse knows no item with this name.');
    return { item, left: 3 };
  },
});
const looksUp = (item: unknown): FakeTurn => ({ calls: [{ name: 'stock', args: { item } }] });
const handsTo = (agent: string): FakeTurn => ({ calls: [{ name: `transfer_to_${agent}`, args: {} }] });

const turns = {
  careless: [looksUp({ colour: 'red' }), { text: 'There are three left.' }],
  endless: [looksUp('hats')],
  front: [handsTo('back'), handsTo('back'), { text: 'It is on its way.' }],
  back: [handsTo('front'), handsTo('front')],
  editor: [{ calls: [{ name: 'ask_researcher', args: { task: 'Who makes the hats?' } }] }, { text: 'We do not know.' }],
  good: [looksUp('hats'), { text: 'Three hats are left.' }],
  bad: [looksUp('all'), { text: 'No hats are left.' }],
} satisfies Record<string, FakeTurn[]>;
const fakes = new Map<string, ReturnType<typeof fakeModel>>();
const modelOf = (name: string) => {
  if (!fakes.has(name)) {
    const script: FakeTurn[] | undefined = turns[name as keyof typeof turns];
    const looped = ['good', 'bad'].includes(name);
    fakes.set(
      name,
      fakeModel(
        script
          ? (_, n) => script[looped ? n % script.length : Math.min(n, script.length - 1)]!
          : () => new Error('out of credit'),
      ),
    );
  }
  return fakes.get(name)!;
};

// every agent of a server lets a thread change its prompt, or none may
const overridable = { http: ['systemPrompt' as const] };
const researcher = defineAgent({ name: 'researcher', model: 'shop:nobody', overridable });
const versions = { 'autumn-1': 'good', 'autumn-2': 'bad' };
const agents = [
  researcher,
  defineAgent({ overridable, name: 'careless', model: 'shop:careless', tools: [stock] }),
  defineAgent({ overridable, name: 'endless', model: 'shop:endless', tools: [stock], maxIterations: 2 }),
  defineAgent({ overridable, name: 'front', model: 'shop:front', tools: [handoffTool('back')], maxHandoffs: 8 }),
  defineAgent({ overridable, name: 'back', model: 'shop:back', tools: [handoffTool('front')], maxHandoffs: 8 }),
  defineAgent({
    overridable,
    name: 'editor',
    model: 'shop:editor',
    tools: [agentTool(researcher, { description: 'Finds facts.' })],
  }),
  ...Object.entries(versions).map(([version, model]) =>
    defineAgent({ overridable, name: 'seller', version, model: `shop:${model}`, tools: [stock] }),
  ),
];

/** A click on something that everybody sees, in words that everybody sees. */
type Click = (page: Page) => Locator;
const facet =
  (words: string): Click =>
  (page) =>
    page.locator('.facets a').filter({ hasText: words });
const more: Click = (page) => page.locator('.facets').getByRole('button', { name: /more$/ });
const views: Click = (page) => page.getByText('View: All');
const builtIn =
  (name: string): Click =>
  (page) =>
    page.locator('.menu.end').getByRole('link', { name, exact: true });
const area =
  (name: string): Click =>
  (page) =>
    page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name });
const mostRows = 8;
/** The newest row whose question, status or agent says so. */
const row =
  (says: string | RegExp = ''): Click =>
  (page) =>
    page.locator('tbody tr').filter({ hasText: says }).locator('.row-link');
/** The mark of such a row. */
const mark =
  (kind: string, says: string | RegExp = ''): Click =>
  (page) =>
    page.locator('tbody tr').filter({ hasText: says }).locator(`[data-mark=${kind}]`);
const unfold =
  (says: string): Click =>
  (page) =>
    page.locator('tbody tr').filter({ hasText: says }).locator('.unfold');
const link =
  (within: string, name: string | RegExp): Click =>
  (page) =>
    page.locator(within).getByRole('link', { name });

interface Search {
  /** The thread of the fault. */
  fault: string;
  from: 'threads' | 'runs';
  clicks: Click[];
  /** Said where the search ends. */
  sees: string | RegExp;
}

const searches: Search[] = [
  {
    fault: 'tool_failed',
    from: 'runs',
    clicks: [facet('tool failed'), row('B-9')],
    sees: 'The account of the shop is locked',
  },
  { fault: 'tool_failed', from: 'threads', clicks: [facet('tool failed'), row('B-9')], sees: 'Tool failed: refund' },
  {
    fault: 'arguments_refused',
    from: 'runs',
    clicks: [facet('arguments refused'), row()],
    sees: 'invalid_arguments',
  },
  { fault: 'tool_retried', from: 'runs', clicks: [facet('tool retried'), row()], sees: '2 attempts' },
  { fault: 'tool_retried', from: 'threads', clicks: [facet('tool retried'), row()], sees: 'Attempted 2 times' },
  {
    fault: 'model_retried',
    from: 'runs',
    clicks: [facet('model retried'), mark('model_retried')],
    sees: /Failed attempts\s*1/,
  },
  { fault: 'model_fell_back', from: 'threads', clicks: [facet('fell back'), row()], sees: 'answered instead of' },
  { fault: 'model_overridden', from: 'runs', clicks: [more, facet('model overridden'), row()], sees: 'fault:cheap' },
  { fault: 'cut', from: 'threads', clicks: [facet('cut'), row('And for dessert?')], sees: 'Cut by policy' },
  {
    fault: 'cut_lifted',
    from: 'runs',
    clicks: [facet('cache missed'), mark('cache_missed', 'And to drink?')],
    sees: 'Cache missed from message',
  },
  { fault: 'cut_by_kind', from: 'threads', clicks: [facet('cut'), row('And then?')], sees: 'Cut by policy' },
  {
    fault: 'over_budget',
    from: 'runs',
    clicks: [facet('over budget'), mark('over_budget')],
    sees: 'must keep exceed the budget',
  },
  { fault: 'searched', from: 'runs', clicks: [facet('cut'), row('How do we get there?')], sees: 'By train' },
  {
    fault: 'cache_missed',
    from: 'runs',
    clicks: [facet('cache missed'), mark('cache_missed', 'The second question')],
    sees: 'the context was replaced',
  },
  { fault: 'steered', from: 'runs', clicks: [more, facet('steered'), row()], sees: 'Do not mention the strike.' },
  {
    fault: 'prompt_changed',
    from: 'threads',
    clicks: [more, facet('prompt changed'), row()],
    sees: 'Answer in German.',
  },
  { fault: 'compacted', from: 'threads', clicks: [more, facet('compacted'), row()], sees: 'In short: all is well.' },
  { fault: 'waiting', from: 'runs', clicks: [views, builtIn('Needs approval'), row()], sees: 'Approve' },
  { fault: 'waiting', from: 'threads', clicks: [views, builtIn('Needs approval'), row()], sees: 'waits for approval' },
  { fault: 'failed', from: 'runs', clicks: [views, builtIn('Failed'), row('Are you there?')], sees: 'out of credit' },
  { fault: 'failed', from: 'threads', clicks: [facet('run failed'), row('Are you there?')], sees: 'out of credit' },
  { fault: 'ended_early', from: 'runs', clicks: [facet('ended early'), row()], sees: 'max_iterations' },
  { fault: 'ended_early', from: 'threads', clicks: [views, builtIn('No answer'), row()], sees: 'no answer' },
  { fault: 'handoffs_looped', from: 'runs', clicks: [facet('handoffs looped'), row()], sees: 'transfer_to_back' },
  { fault: 'handoffs_looped', from: 'threads', clicks: [facet('handoffs looped'), row()], sees: 'transfer_to_back' },
  {
    fault: 'failed_child',
    from: 'runs',
    clicks: [facet('tool failed'), unfold('editor'), link('tbody', /^Run of researcher/)],
    sees: 'out of credit',
  },
  {
    fault: 'limit',
    from: 'runs',
    clicks: [views, builtIn('Waits for a limit'), row()],
    sees: /Waits? for the limit bookings/,
  },
  { fault: 'limit', from: 'threads', clicks: [views, builtIn('Waits for a limit'), row()], sees: 'bookings' },
  {
    fault: 'bad_version',
    from: 'runs',
    clicks: [
      area('Operations'),
      (page) =>
        page.locator('tr', { hasText: 'autumn-2' }).locator('.marked', { hasText: 'tool failed' }).getByRole('link'),
      row(),
    ],
    sees: 'autumn-2',
  },
];

describe.skipIf(noBrowser)('a fault among many threads, found by who does not know its thread', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  let child: string;
  beforeAll(async () => {
    site = await openSite({ agents: [...world.agents, ...agents], models: { ...world.models, shop: modelOf } });
    const { runs, limits, database } = site.api.lanefold;
    await seedFaults(site.api, world);
    const ask = async (agent: string, threadId: string, input: string, more = {}) => {
      const run = await runs.enqueue({ agent, threadId, createThread: true, input, ...more });
      await runs.wait(run);
      return run;
    };
    await ask('careless', 'arguments_refused', 'Is the seventh one in stock?');
    await ask('endless', 'ended_early', 'Are there hats?');
    await ask('front', 'handoffs_looped', 'Where is my order?');
    const parent = await ask('editor', 'failed_child', 'Who makes the hats?');
    child = (await runs.tree(parent)).runs.find(({ agent }) => agent === 'researcher')!.threadId;
    for (const n of [1, 2, 3]) await ask('seller', `good_version_${n}`, 'Are hats left?', { version: 'autumn-1' });
    await ask('seller', 'bad_version', 'Are hats left?', { version: 'autumn-2' });
    await limits.set('bookings', { kind: 'concurrency', amount: 0, scope: { desk: '*' } });
    const booking = {
      agent: 'plain',
      threadId: 'limit',
      createThread: true,
      input: 'Book a hat.',
      limitKeys: { desk: 'north' },
    };
    const held = await runs.enqueue(booking);
    await until('the run waits for the limit', async () => (await runs.get(held)).limitedBy !== null);
    // newer than all faults, so that those are on no first page
    await database.pool.query(
      `insert into lanefold.thread (id, created_at, updated_at)
       select 'clean-' || n, lanefold._now(), lanefold._now() from generate_series(1, $1::int) n`,
      [cleanThreads],
    );
    await database.pool.query(
      `insert into lanefold._run (thread_id, id, request_hash, agent, strategy, model, context_ref, status, active, created_at, started_at, finished_at, iteration, result)
       select 'clean-' || n, 'run', '', 'plain', 'react', 'fault:plain', 'default', 'completed', false, lanefold._now(), lanefold._now(),
         lanefold._now(), 1, '"All is well."' from generate_series(1, $1::int) n`,
      [cleanThreads],
    );
    ({ page, go } = await site.open());
    page.setDefaultTimeout(8_000);
  });
  afterAll(() => site?.close());

  test.each(searches)('$fault, from $from', async ({ fault, from, clicks, sees }) => {
    await go(`#/${from}`);
    await page.locator('tbody tr', { hasText: 'clean-' }).first().waitFor();
    expect(await page.locator('tbody .id', { hasText: new RegExp(`^${fault}$`) }).count(), 'not in sight at once').toBe(
      0,
    );
    expect(clicks.length).toBeLessThanOrEqual(mostClicks);
    for (const click of clicks.slice(0, -1)) await click(page).first().click();
    const rows = page.locator('tbody tr:has(.row-link)');
    if (!(fault === 'failed_child')) {
      await page.locator('tbody tr', { hasText: 'clean-' }).first().waitFor({ state: 'detached' });
      await rows.first().waitFor();
      expect(await rows.count(), 'few enough to look through').toBeLessThanOrEqual(mostRows);
    }
    await clicks.at(-1)!(page).first().click();
    await page.locator('main').filter({ hasText: sees }).waitFor();
    const thread = fault === 'failed_child' ? child : fault;
    expect(new URL(page.url()).hash).toMatch(new RegExp(`^#/threads/${thread}(/|\\?|$)`));
    expect(site.faults).toEqual([]);
  });
});
