// @module-tag slow
import { defineAgent } from 'lanefold';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { expectAccessible, ofColours, ofLayout, openSite, type OpenPage, type Site } from './harness.ts';

const rootKey = 'sesame';
const echo = defineAgent({ name: 'echo', model: 'scripted:echo' });
// the price list knows its model
const priced = defineAgent({ name: 'priced', model: 'openai:gpt-4o' });

describe.skipIf(noBrowser)('branches on the page', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  let said: OpenPage['said'];
  beforeAll(async () => {
    site = await openSite({ server: { apiKey: rootKey }, agents: [echo, priced] });
    ({ page, go, said } = await signedIn(rootKey));
  });
  afterAll(() => site?.close());

  async function signedIn(key: string, theme?: 'light' | 'dark', width?: number): Promise<OpenPage> {
    const opened = await site.open(theme, width);
    // the blank page, from which each visit begins, has no storage
    await opened.page.addInitScript(
      `if (location.protocol !== 'about:') sessionStorage.setItem('lanefold.key', ${JSON.stringify(key)})`,
    );
    return opened;
  }
  const ask = async (threadId: string, input: string, agent = 'echo') => {
    const { runs } = site.api.lanefold;
    const run = await runs.wait(await runs.enqueue({ agent, threadId, input, createThread: true }));
    return run.id;
  };
  /** The `seq` of the newest message of a role. */
  const newest = async (threadId: string, role: string) =>
    (await site.api.lanefold.threads.tree(threadId)).data.findLast((one) => one.role === role)!.seq;
  /** A thread whose second question has two versions, on `default` and on `default@2`. */
  const branched = async (threadId: string, agent = 'echo') => {
    const { runs, threads } = site.api.lanefold;
    await ask(threadId, 'One?', agent);
    const afterSeq = await newest(threadId, 'assistant');
    await ask(threadId, 'Two?', agent);
    const { run } = await threads.branch(threadId, { afterSeq, contextRef: 'default', agent, input: 'Three?' });
    await runs.wait(run!);
  };
  const active = async (threadId: string) => (await site.api.lanefold.threads.get(threadId)).activeContextRef;
  const back = (on = page) => on.getByRole('button', { name: 'Previous version of this message' });
  const next = (on = page) => on.getByRole('button', { name: 'Next version of this message' });
  const composer = () => page.locator('.composer');

  test('edit a question, go back and forth by keyboard, and show the other branch', async () => {
    await ask('chat', 'One?');
    await ask('chat', 'Two?');
    const seq = await newest('chat', 'user');
    await go('#/threads/chat');
    await page.getByRole('button', { name: `Edit the question #${seq}` }).click();
    const box = page.getByRole('textbox', { name: 'Message' });
    await expect.poll(() => box.inputValue()).toBe('Two?');
    await expect.poll(() => composer().getByLabel('Agent').inputValue()).toBe('echo');
    await expectAccessible(page, 'an edited question');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => box.inputValue()).toBe('');
    await page.getByRole('button', { name: `Edit the question #${seq}` }).click();
    await box.fill('Three?');
    await page.keyboard.press('Control+Enter');
    await said('Three?').first().waitFor();
    await page
      .getByRole('group', { name: 'Versions of this message' })
      .getByText('2 of 2')
      .waitFor({ state: 'attached' });
    expect(await said('Two?').count()).toBe(0);
    await said('One?').first().waitFor();
    await expect.poll(() => box.inputValue()).toBe('');
    await expect.poll(() => next().isDisabled()).toBe(true);

    await back().focus();
    await page.keyboard.press('Enter');
    await said('Two?').first().waitFor();
    expect(await said('Three?').count()).toBe(0);
    // at the first version, the arrow back is disabled: the other one has the focus
    const focused = () => page.evaluate<string | null>('document.activeElement.getAttribute("aria-label")');
    await until('the focus follows', async () => (await focused()) === 'Next version of this message');
    expect(await active('chat')).toBe('default@2');
    await page.reload();
    await said('Two?').first().waitFor();
    await page.getByText('You look at default. The thread shows default@2.').waitFor();
    await next().waitFor();
    await expectAccessible(page, 'a branch that is not shown');

    // a question is asked where the reader looks
    await page.getByPlaceholder('Ask something').fill('And then?');
    await page.keyboard.press('Control+Enter');
    await said('And then?').first().waitFor();
    expect((await site.api.lanefold.runs.list({ threadId: 'chat' })).data[0]).toMatchObject({ contextRef: 'default' });
    await page.getByRole('button', { name: 'Show default' }).click();
    await until('it is shown', async () => (await active('chat')) === 'default');
    await page.getByText('You look at').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'All lanes' }).click();
    await said('Three?').first().waitFor();
    await said('Two?').first().waitFor();
  });

  test('a key that may only read looks at the other branch, and is told why it cannot show it', async () => {
    await branched('read');
    const { key } = await site.api.lanefold.keys.create({ name: 'reader', scopes: ['read'] });
    const reader = await signedIn(key);
    await reader.go('#/threads/read');
    await reader.said('Three?').first().waitFor();
    await back(reader.page).click();
    await reader.said('Two?').first().waitFor();
    await reader.page.getByRole('button', { name: 'Show default' }).click();
    await reader.page.getByRole('alert').waitFor();
    expect(await active('read')).toBe('default@2');
    // before the branch, the thread is shown as it was
    await reader.go(`#/threads/read?at=${(await newest('read', 'user')) - 2}`);
    await reader.said('Two?').first().waitFor();
    expect(await back(reader.page).count()).toBe(0);
    await reader.context.close();
  });

  test('ask again while a run is active: the branch waits, and is shown when its run begins', async () => {
    const { runs, threads } = site.api.lanefold;
    await ask('busy', 'One?');
    const seq = await newest('busy', 'assistant');
    const id = await site.ask('busy', 'Write', 'travel', 'slow');
    await go('#/threads/busy');
    await page.getByRole('button', { name: `Ask again for the answer #${seq}` }).click();
    const way = page.getByLabel('How to send it');
    await expect
      .poll(() => way.getByRole('option').allInnerTexts())
      .toEqual(['Ask after the run', 'Cancel the run and ask']);
    expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Ask again', exact: true }).click();
    await page.getByText('You look at default@2. The thread shows default.').waitFor();
    await runs.cancel({ threadId: 'busy', id });
    await page.getByText('You look at').waitFor({ state: 'detached' });
    await page.getByText('2 of 2').waitFor({ state: 'attached' });
    const { data } = await threads.tree('busy');
    const [first, again] = data.filter(({ parentSeq }) => parentSeq === data[0]!.seq);
    expect([first!.seq, again!.contextRef, again!.place]).toEqual([seq, 'default@2', 2]);
    expect(await active('busy')).toBe('default@2');
  });

  test('compare two branches with their contexts, at an address that a colleague can open', async () => {
    await branched('sides', 'priced');
    await go('#/threads/sides');
    await page.getByRole('group', { name: 'Versions of this message' }).getByRole('link', { name: 'Compare' }).click();
    const left = page.getByRole('region', { name: 'The left branch' });
    const right = page.getByRole('region', { name: 'The right branch' });
    await page.getByText('2 messages in common').waitFor();
    await left.locator('.entry').getByText('Two?', { exact: true }).waitFor();
    await right.locator('.entry').getByText('Three?', { exact: true }).waitFor();
    for (const side of [left, right]) {
      await expect
        .poll(() => side.locator('.facts').innerText())
        .toMatch(/Messages\s+2\s+Runs\s+1\s+Tokens\s+\d+\s+Cost\s+\$0\.\d+/);
      await side.locator('.side-run').getByText('completed').waitFor();
      expect(await side.getByText('One?', { exact: true }).isVisible()).toBe(false);
    }
    await page.getByText('2 messages in common').click();
    await page.getByText('One?', { exact: true }).first().waitFor();
    await expectAccessible(page, 'a comparison');
    await page.getByRole('tab', { name: 'What the model sees' }).click();
    await left.getByText('2 messages in common').waitFor();
    await left.getByText('Two?', { exact: true }).waitFor();
    await right.getByText('Three?', { exact: true }).waitFor();
    await expectAccessible(page, 'two contexts');

    const address = new URL(page.url()).hash;
    const other = await signedIn(rootKey, 'dark', 390);
    await other.go(address);
    await other.page.getByText('Two?', { exact: true }).waitFor();
    const [above, below] = await Promise.all(
      ['left', 'right'].map((side) => other.page.getByRole('region', { name: `The ${side} branch` }).boundingBox()),
    );
    expect(above!.y + above!.height).toBeLessThanOrEqual(below!.y);
    await expectAccessible(other.page, 'two contexts on a phone', ofLayout);
    await other.page.getByRole('tab', { name: 'Messages' }).click();
    await other.page.locator('.side-run').first().waitFor();
    await expectAccessible(other.page, 'a comparison in the dark', ofColours);
    await other.context.close();
    // from the list of lanes
    await go('#/threads/sides');
    await page.getByRole('link', { name: 'Compare default with the active lane' }).click();
    await page.getByRole('heading', { name: 'default@2 compared with default' }).waitFor();
    await page.getByRole('combobox', { name: 'The right branch' }).selectOption('default@2');
    await page.getByText('The same branch.').first().waitFor();
  });

  test('say what an answer is worth, with a comment, and keep it as a case', async () => {
    const { cases, feedback } = site.api.lanefold;
    const id = await ask('worth', 'One?');
    const seq = await newest('worth', 'assistant');
    await go('#/threads/worth');
    await page.getByRole('button', { name: `Feedback on the answer #${seq}` }).click();
    const dialog = page.getByRole('dialog');
    await expectAccessible(page, 'feedback');
    await dialog.getByLabel('No').check();
    await dialog.getByLabel('Comment').fill('It only repeats the question.');
    await dialog.getByLabel('Keep the run as a case').check();
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(`Feedback on #${seq}: not a good answer: It only repeats the question.`).waitFor();
    await page.locator('.entry.assistant').getByText('disliked').first().waitFor();
    expect((await feedback.list({ threadId: 'worth' })).data).toEqual([
      expect.objectContaining({ answerSeq: seq, rating: 'down', comment: 'It only repeats the question.' }),
    ]);
    const [kept] = (await cases.list({ dataset: 'feedback' })).data;
    expect(kept).toMatchObject({
      threadId: 'worth',
      runId: id,
      tags: ['disliked'],
      note: 'It only repeats the question.',
    });
    await expectAccessible(page, 'a thread with feedback');
    expect(site.faults).toEqual([]);
  });
});
