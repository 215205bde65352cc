// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page, Route } from 'playwright-core';
import { defineAgent } from 'lanefold';
import { noBrowser } from '../support/browser.ts';
import { deferred, until } from '../support/until.ts';
import { answerWith, startReceiver } from '../webhooks/receiver.ts';
import { expectAccessible, ofColours, openSite, type OpenPage, type Site } from './harness.ts';

/** Lets a test tear the event streams of a page, and keep them from coming back until it mends them. */
const breakableStreams = `
  const fetchReally = fetch;
  let broken = false;
  let tear = () => {};
  globalThis.breakStreams = () => ((broken = true), tear());
  globalThis.mendStreams = () => (broken = false);
  globalThis.fetch = async (url, options) => {
    if (!String(url).includes('/events?')) return fetchReally(url, options);
    if (broken) throw new TypeError('broken');
    const response = await fetchReally(url, options);
    const torn = new Promise((_, reject) => (tear = () => reject(new TypeError('broken'))));
    torn.catch(() => {});
    const reader = response.body.getReader();
    const pull = async (controller) => {
      const { value, done } = await Promise.race([reader.read(), torn]);
      if (done) controller.close();
      else controller.enqueue(value);
    };
    return new Response(new ReadableStream({ pull }), response);
  };
`;

const transformed = defineAgent({
  name: 'transformed',
  model: 'scripted:["Well."]',
  requestTransformer: ({ messages }) => ({ messages: [...messages, { role: 'user', content: 'More.' }] }),
});

const guide = (version: string, instructions: string) =>
  defineAgent({ name: 'guide', version, model: 'scripted:["Left."]', instructions });

describe.skipIf(noBrowser)('what can be done on the page', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  let said: OpenPage['said'];
  beforeAll(async () => {
    site = await openSite({ agents: [transformed, guide('a', 'Be brief.'), guide('b', 'Be very brief.')] });
    ({ page, go, said } = await site.open());
  });
  afterAll(() => site?.close());

  const runsOf = async (threadId: string) => (await site.api.lanefold.runs.list({ threadId })).data;

  test('ask in a new thread, and watch the answer come', async () => {
    await go('#/threads');
    await page.getByRole('button', { name: 'New thread' }).click();
    await page.getByLabel('Question').fill('To Hamburg, please');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('Take an umbrella.').first().waitFor();
    await page.getByPlaceholder('Ask something').fill('And back?');
    await page.keyboard.press('Control+Enter');
    await said('And back?').waitFor();
    await until('both runs ended', async () => (await page.getByText('Take an umbrella.').count()) === 2);
  });

  test('steer, inject and cancel a run under way', async () => {
    const id = await site.ask('long', 'Write', 'travel', 'slow');
    await go('#/threads/long');
    const box = page.getByPlaceholder('Write to the active run');
    await box.fill('Shorter');
    await page.getByRole('button', { name: 'Send' }).click();
    await until(
      'it is queued',
      async () => (await site.api.lanefold.runs.inputs({ threadId: 'long', id })).length === 1,
    );
    await page.getByLabel('How to send it').selectOption('inject');
    await until('the box is empty', async () => (await box.inputValue()) === '');
    await box.fill('The weather changed');
    await page.getByRole('button', { name: 'Send' }).click();
    const kinds = async () => (await site.api.lanefold.runs.inputs({ threadId: 'long', id })).map(({ kind }) => kind);
    await until('both are queued', async () => (await kinds()).join() === 'steer,inject');
    await page.getByText('More…').click();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('cancelled').first().waitFor();
    expect((await runsOf('long'))[0]!.status).toBe('cancelled');
  });

  test('approve and deny', async () => {
    await site.ask('yes', 'Book it', 'booking');
    await go('#/approvals');
    await page
      .getByText('No tool call waits')
      .or(page.getByRole('button', { name: 'Approve' }))
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await until('it continues', async () => (await runsOf('yes'))[0]!.status === 'completed');
    const id = await site.ask('no', 'Book it', 'booking');
    await until('it waits', async () => (await runsOf('no'))[0]!.status === 'suspended');
    await go(`#/threads/no/runs/${id}`);
    await page.getByLabel('Reason').fill('too dear');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    const { toolCalls } = await site.api.lanefold.runs.get({ threadId: 'no', id });
    expect(JSON.stringify(toolCalls[0])).toContain('too dear');
  });

  test('a run that ends while the page reads it is shown to its end', async () => {
    const id = await site.ask('reads', 'Book it', 'booking');
    await until('it waits', async () => (await runsOf('reads'))[0]!.status === 'suspended');
    const { page: other, go: open } = await site.open();
    await open(`#/threads/reads/runs/${id}`);
    await other.getByLabel('Reason').waitFor();
    const ended = deferred();
    let reading = false;
    await other.route(`**/v1/threads/reads/runs/${id}`, async (route) => {
      reading = true;
      await ended.promise;
      await route.continue();
    });
    // as of before the end, however late the answer comes; an earlier read may be on its way
    await other.route(`**/v1/threads/reads/runs/${id}/events?*`, async (route) => {
      if (!reading) return route.continue();
      const response = await route.fetch();
      await ended.promise;
      await route.fulfill({ response });
    });
    await until('the page reads the run', () => reading);
    await site.api.lanefold.runs.deny({ threadId: 'reads', id }, '1.0');
    await until('it has ended', async () => (await runsOf('reads'))[0]!.status === 'completed');
    ended.resolve();
    await other.getByText('Completed', { exact: true }).waitFor();
    await other.close();
  });

  test('a server that does not answer is asked once', async () => {
    const id = await site.ask('silent', 'Book it', 'booking');
    await until('it waits', async () => (await runsOf('silent'))[0]!.status === 'suspended');
    const { page: other, go: open } = await site.open();
    await other.clock.install();
    await open(`#/threads/silent/runs/${id}`);
    await other.getByLabel('Reason').waitFor();
    const unanswered: Route[] = [];
    let isSilent = true;
    await other.route(`**/v1/threads/silent/runs/${id}`, (route) =>
      isSilent ? void unanswered.push(route) : route.continue(),
    );
    await until('it is asked', () => unanswered.length > 0);
    await other.clock.runFor(60_000);
    expect(unanswered).toHaveLength(1);
    isSilent = false;
    await unanswered[0]!.continue();
    await site.api.lanefold.runs.deny({ threadId: 'silent', id }, '1.0');
    await until('it has ended', async () => (await runsOf('silent'))[0]!.status === 'completed');
    await other.getByText('Completed', { exact: true }).waitFor();
    await other.close();
  });

  test('set a limit, let the run continue that waits for it, and remove it', async () => {
    const { limits, runs } = site.api.lanefold;
    await go('#/limits');
    await page.getByText('There are no limits').waitFor();
    await page.getByRole('button', { name: 'Set a limit' }).click();
    await expectAccessible(page, 'a new limit');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('trials');
    await dialog.getByLabel('Amount').fill('0');
    await dialog.getByLabel('Scope').fill('plan');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await dialog.getByText('dimension=value').first().waitFor();
    await dialog.getByLabel('Scope').fill('plan=trial');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('heading', { name: 'trials' }).waitFor();
    const { id } = await runs.enqueue({
      threadId: 'trial',
      createThread: true,
      agent: 'travel',
      input: 'Hello',
      limitKeys: { plan: 'trial' },
    });
    await until('it waits', async () => (await limits.usage())[0]?.waiting === 1);
    await page.getByRole('cell', { name: '1', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Change the amount of trials' }).click();
    await dialog.getByLabel('Amount').fill('1');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await until('it continues', async () => (await runs.get({ threadId: 'trial', id })).status === 'completed');
    await page.getByRole('button', { name: 'Remove trials' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('There are no limits').waitFor();
  });

  test('roll a version out, compare it with the one before, and roll it back', async () => {
    const { agents, runs } = site.api.lanefold;
    await go('#/agents');
    await page.getByText('a serves all threads.').waitFor();
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page, `agents with versions, ${colorScheme}`, ofColours);
    }
    await page.getByRole('button', { name: 'Choose which versions of guide serve' }).click();
    await expectAccessible(page, 'a new rollout');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Share of a').fill('0');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await dialog.getByText('must have one version above 0').waitFor();
    await dialog.getByLabel('Share of b').fill('3');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByText('New threads: a 0 %, b 100 %.').waitFor();
    const run = await runs.wait(await runs.enqueue({ agent: 'guide', input: 'Where?' }));
    expect((await agents.versions('guide')).find(({ id }) => id === run.agentVersion)?.label).toBe('b');
    await page.getByText('Compare two versions of guide').click();
    // of versions that started together, the first one of this server counts as the older
    await page.locator('ins').getByText('Be very brief.').waitFor();
    await page.getByRole('button', { name: 'Remove the rollout of guide' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('a serves all threads.').waitFor();
    expect(await agents.rollouts()).toEqual([]);
  });

  test('set a schedule, see what its slots did, pause it, let it continue and remove it', async () => {
    const { schedules } = site.api.lanefold;
    await go('#/schedules');
    await page.getByText('There are no schedules').waitFor();
    await page.getByRole('button', { name: 'Set a schedule' }).click();
    await expectAccessible(page, 'a new schedule');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('often');
    await dialog.getByLabel('Agent').selectOption('travel');
    await dialog.getByLabel('User message').fill('Weather at {{time}}?');
    await dialog.getByLabel('Cron expression').fill('often');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await dialog.getByText('makes no sense').first().waitFor();
    await dialog.getByLabel('Cron expression').fill('* * * * * *');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('heading', { name: 'often' }).waitFor();
    await page.getByText('Slots so far').click();
    await page.getByText('fired', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Pause often' }).click();
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    expect((await schedules.get('often')).pausedAt).not.toBeNull();
    await expectAccessible(page, 'schedules');
    await page.getByRole('button', { name: 'Resume often' }).click();
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Next:').waitFor();
    await page.getByRole('button', { name: 'Remove often' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('There are no schedules').waitFor();
    expect((await schedules.list()).data).toEqual([]);
  });

  test('set a webhook, keep its secret, see how it answered, send it again, pause and remove it', async () => {
    const { webhooks } = site.api.lanefold;
    const receiver = await startReceiver();
    receiver.respond = answerWith(503, 'Come back later.');
    await go('#/webhooks');
    await page.getByText('There are no webhooks').waitFor();
    await page.getByRole('button', { name: 'Set a webhook' }).click();
    await expectAccessible(page, 'a new webhook');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('orders');
    await dialog.getByLabel('URL').fill('ftp://127.0.0.1/');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await dialog.getByText('must begin with https:').first().waitFor();
    await dialog.getByLabel('URL').fill(`${receiver.url}/orders`);
    await dialog.getByLabel('Events it wants').selectOption(['run.completed']);
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByText(/whsec_/).waitFor();
    expect(await webhooks.get('orders')).toMatchObject({ types: ['run.completed'], ordered: false });
    await page.getByRole('button', { name: 'Test orders' }).click();
    await dialog.getByRole('button', { name: 'Test' }).click();
    await until('it was sent', () => receiver.received.length > 0);
    await page.getByText('Deliveries').click();
    await page.getByText('Come back later.').waitFor();
    await expectAccessible(page, 'webhooks');
    receiver.respond = answerWith(200);
    await page.getByRole('button', { name: /^Send again/ }).click();
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('delivered', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause orders' }).click();
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused by hand').waitFor();
    await page.getByRole('button', { name: 'Remove orders' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('There are no webhooks').waitFor();
    await receiver.close();
  });

  test('switch the lane and replace the context', async () => {
    await site.ask('lanes', 'Hello');
    await go('#/threads/lanes');
    await page.getByRole('button', { name: 'Switch', exact: true }).click();
    await page.getByLabel('Existing or new lane').fill('draft');
    await page.getByRole('dialog').getByRole('button', { name: 'Switch' }).click();
    await page.getByText('This lane became the active one').waitFor();
    await page.getByText('More…').click();
    await expectAccessible(page, 'menu');
    await page.getByRole('button', { name: 'Replace the context' }).click();
    await page.getByLabel('First message').fill('From here on in French.');
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
    await page.getByText('Context replaced (manual): 1 message').waitFor();
    await until('the menu has closed', async () => !(await page.getByText('Erase the thread').isVisible()));
    const rows = await site.api.lanefold.contexts.project('lanes', { contextRef: 'draft' });
    expect(rows.at(-1)!.content).toBe('From here on in French.');
  });

  test('fork from any entry, and continue in the fork', async () => {
    await site.ask('parent', 'To Hamburg?');
    await site.ask('parent', 'And back?');
    await go('#/threads/parent');
    await said('And back?').waitFor();
    await page.getByRole('button', { name: 'Fork after entry #4' }).click();
    await expectAccessible(page, 'fork');
    await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('link', { name: 'parent', exact: true }).waitFor();
    await page.getByText('Take an umbrella.', { exact: true }).waitFor();
    expect(await said('And back?').count()).toBe(0);
    const forked = new URL(page.url()).hash.split('/').at(-1)!;
    expect(await site.api.lanefold.threads.get(forked)).toMatchObject({ parentThreadId: 'parent', forkSeq: 4 });
    await page.getByPlaceholder('Ask something').fill('By train instead?');
    await page.keyboard.press('Control+Enter');
    await said('By train instead?').waitFor();
    // as of the slider, in the middle of a round of tools: refused until it is to be closed
    await go('#/threads/parent?at=2');
    await page.locator('.side').getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click();
    await page.getByText('open_tool_group').waitFor();
    await page.getByLabel('Add error results').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('link', { name: 'parent', exact: true }).waitFor();
    expect((await site.api.lanefold.threads.get('parent')).rev).toBe(9);
  });

  test('compact a lane', async () => {
    for (const city of ['Hamburg', 'Munich', 'Bremen']) await site.ask('crowded', `To ${city}?`);
    await go('#/threads/crowded');
    await said('To Bremen?').waitFor();
    await page.getByRole('button', { name: 'Compact', exact: true }).click();
    await page.getByLabel('Newest turns to keep').fill('1');
    await page.getByLabel('Model (empty').fill('second');
    await expectAccessible(page, 'compact');
    await page.getByRole('dialog').getByRole('button', { name: 'Compact' }).click();
    await page.getByText(/Compacted: entries #\d+ to #\d+/).waitFor();
    const rows = await site.api.lanefold.contexts.project('crowded', { contextRef: 'default' });
    expect(rows.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      expect.stringContaining('The sun shines all day.'),
      'To Bremen?',
    ]);
  });

  test('keep model calls as cases, and see in an eval which of them got worse', async () => {
    const { cases, evals, runs } = site.api.lanefold;
    const unproven = await runs.wait(await runs.enqueue({ agent: 'transformed', input: 'Well?' }));
    await go(`#/threads/${unproven.threadId}/calls/${unproven.id}.1`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Keep as case' }).click();
    await dialog.getByLabel('Dataset').fill('weather');
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
    await dialog.getByText('case_unverified').waitFor();
    const run = await site.ask('umbrella', 'To Hamburg?');
    await go(`#/threads/umbrella/calls/${run}.2`);
    await page.getByRole('button', { name: 'Keep as case' }).click();
    await expectAccessible(page, 'a new case');
    await dialog.getByLabel('Dataset').fill('weather');
    await dialog.getByLabel('Tags').fill('rain, north');
    await dialog.getByLabel('must contain').fill('umbrella\n\n Take ');
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('Kept as a case of weather').waitFor();
    const [kept] = (await cases.list({ dataset: 'weather' })).data;
    expect(kept).toMatchObject({
      kind: 'call',
      threadId: 'umbrella',
      llmCallId: `${run}.2`,
      tags: ['rain', 'north'],
      expected: { contains: ['umbrella', 'Take'] },
    });
    const other = await site.ask('sunshine', 'To Munich?');
    const sunny = await cases.keep({
      threadId: 'sunshine',
      llmCallId: `${other}.2`,
      dataset: 'weather',
      tags: ['sun'],
      expected: { contains: ['sun shines'] },
    });
    const { id } = await evals.run({
      dataset: 'weather',
      variants: [{ name: 'planned' }, { name: 'sunny', model: 'second' }],
    });
    await evals.wait(id);
    await go('#/evals');
    await page.getByRole('link', { name: id }).click();
    await page.getByText('Too few cases to compare sunny with planned').waitFor();
    await page.getByText('1 worse, 0 the same, 1 better').waitFor();
    const rows = page.locator('[data-case]');
    const order = () => page.evaluate('[...document.querySelectorAll("[data-case]")].map((row) => row.dataset.case)');
    expect(await order()).toEqual([kept!.id, sunny.id]);
    await expect
      .poll(() => rows.first().getByRole('cell').allInnerTexts())
      .toEqual(['north rain', '1.00', '0.00 -1.000']);
    await page.getByRole('button', { name: 'Only what got worse' }).click();
    await rows.nth(1).waitFor({ state: 'detached' });
    expect(await order()).toEqual([kept!.id]);
    await page.getByLabel('Tag').selectOption('sun');
    await page.getByText('No cases match.').waitFor();
    await page.getByRole('button', { name: 'Only what got worse' }).click();
    await page.getByLabel('Tag').selectOption('rain');
    await page.getByText('All items').click();
    await page.getByRole('table', { name: 'Items' }).getByRole('row').nth(4).waitFor();
    await rows.getByRole('link', { name: kept!.id }).click();
    await page.getByRole('heading', { name: `To Hamburg? ${kept!.id}` }).waitFor();
    await page.getByRole('region', { name: 'planned, repeat 1' }).getByText('Take an umbrella.').waitFor();
    const worse = page.getByRole('region', { name: 'sunny, repeat 1' });
    await worse.getByText('The sun shines all day.').waitFor();
    // its run is read after the item
    await worse.getByText('second').waitFor();
    await expect.poll(() => worse.locator('.facts').innerText()).toMatch(/contains\s+0\.00[^]*Model\s+second/);
    await worse.locator('h3 .status.bad').getByText('0.00').waitFor();
    expect(await worse.getAttribute('class')).toBe('entry bad');
    await worse.getByRole('link', { name: /^run_/ }).click();
    await page.locator('.crumbs').getByRole('link', { name: 'Case' }).click();
    await page.getByRole('heading', { name: `To Hamburg? ${kept!.id}` }).waitFor();
    await page.getByRole('link', { name: `${run}.2` }).click();
    await page.getByText('Hash verified').waitFor();
    expect(new URL(page.url()).hash).toBe(`#/threads/umbrella/calls/${run}.2`);
  });

  test('erase a thread', async () => {
    await site.ask('secret', 'Forget me');
    await go('#/threads/secret');
    await page.getByText('More…').click();
    await page.getByRole('button', { name: 'Erase the thread' }).click();
    await page.getByLabel('to confirm').fill('other');
    await page.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByText('That is not the id of this thread.').waitFor();
    await page.getByLabel('to confirm').fill('secret');
    await page.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByRole('heading', { name: 'Erased: secret' }).waitFor();
    await page.getByText('backups').first().waitFor();
    await expectAccessible(page, 'erased');
    await expect(site.api.lanefold.threads.get('secret')).rejects.toMatchObject({ code: 'thread_erased' });
  });

  test('pause the stream: what came meanwhile appears on resume, once', async () => {
    await site.ask('live', 'One');
    await go('#/threads/live');
    await page.getByText('Take an umbrella.').first().waitFor();
    await page.getByRole('button', { name: 'Live: pause' }).click();
    await site.ask('live', 'Two');
    expect(await said('Two').count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await said('Two').waitFor();
    const seqs = await page.locator('.entry-head .num').allTextContents();
    expect(new Set(seqs).size).toBe(seqs.length);
    expect(site.faults).toEqual([]);
  });

  test('lose the connection: the stream resumes after its last event', async () => {
    const { page: other, context, said: saidThere } = await site.open();
    await other.addInitScript(breakableStreams);
    await site.ask('torn', 'One');
    await other.goto(`${site.api.url}/#/threads/torn`);
    await other.getByRole('button', { name: 'Live: pause' }).waitFor();
    await other.evaluate('breakStreams()');
    await other.getByRole('button', { name: 'Connecting' }).waitFor();
    await site.ask('torn', 'Two');
    expect(await saidThere('Two').count()).toBe(0);
    const asked = other.waitForRequest(/\/events\?.*after=\d/);
    await other.evaluate('mendStreams()');
    expect(new URL((await asked).url()).searchParams.get('after')).not.toBe('-1');
    await saidThere('Two').waitFor();
    await until('both answers are there', async () => (await other.getByText('Take an umbrella.').count()) === 2);
    const seqs = await other.locator('.entry-head .num').allTextContents();
    expect(new Set(seqs).size).toBe(seqs.length);
    await context.close();
  });
});
