// @module-tag long
import { defineAgent } from 'lanefold';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { fakeModel } from '../support/fake-model.ts';
import { until } from '../support/until.ts';
import { expectAccessible, openSite, type OpenPage, type Site } from './harness.ts';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.skipIf(noBrowser)('branches on the page, while a run is active', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  let said: OpenPage['said'];
  beforeAll(async () => {
    site = await openSite({
      agents: [
        defineAgent({ name: 'echo', model: 'scripted:echo' }),
        defineAgent({ name: 'viewer', model: 'views:m' }),
      ],
      models: { views: fakeModel(({ prompt }) => ({ text: `${filesIn(prompt)} file` })) },
    });
    ({ page, go, said } = await site.open());
  });
  afterAll(() => site?.close());

  const filesIn = (prompt: readonly { content: unknown }[]) =>
    prompt
      .flatMap(({ content }) => (Array.isArray(content) ? (content as { type: string }[]) : []))
      .filter(({ type }) => type === 'file').length;
  const ask = async (threadId: string, input: string) => {
    const { runs } = site.api.lanefold;
    return runs.wait(await runs.enqueue({ agent: 'echo', threadId, input, createThread: true }));
  };
  const newest = async (threadId: string, role: string) =>
    (await site.api.lanefold.threads.tree(threadId)).data.findLast((one) => one.role === role)!.seq;
  const active = async (threadId: string) => (await site.api.lanefold.threads.get(threadId)).activeContextRef;

  test('show another branch: the page says that it waits, and shows it when the run has ended', async () => {
    const { runs, threads } = site.api.lanefold;
    await ask('show', 'One?');
    const { run } = await threads.branch('show', { afterSeq: -1, contextRef: 'default', agent: 'echo', input: 'Two?' });
    await runs.wait(run!);
    const id = await site.ask('show', 'Write', 'travel', 'slow');
    await go('#/threads/show?lane=default');
    await said('One?').first().waitFor();
    await page.getByText('You look at default. The thread shows default@2.').waitFor();
    await page.getByRole('button', { name: 'Show default' }).click();
    await page.getByText('The thread shows default@2 until the active run has ended, then default.').waitFor();
    expect(await page.getByRole('button', { name: 'Show default' }).count()).toBe(0);
    expect(await active('show')).toBe('default@2');
    await expectAccessible(page, 'a branch that is shown later');
    await runs.cancel({ threadId: 'show', id });
    await page.getByText('You look at').waitFor({ state: 'detached' });
    expect(await active('show')).toBe('default');
    await said('One?').first().waitFor();
  });

  test('cancel the run and ask: the branch takes its place', async () => {
    const { runs, threads } = site.api.lanefold;
    await ask('cancel', 'One?');
    const seq = await newest('cancel', 'user');
    const id = await site.ask('cancel', 'Write', 'travel', 'slow');
    await until('it runs', async () => (await runs.get({ threadId: 'cancel', id })).status === 'running');
    await go('#/threads/cancel');
    await page.getByRole('button', { name: `Edit the question #${seq}` }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Uno?');
    await page.getByLabel('How to send it').selectOption({ label: 'Cancel the run and ask' });
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await said('Uno?').first().waitFor();
    await page.getByText('2 of 2').waitFor({ state: 'attached' });
    expect(await said('Write').count()).toBe(0);
    expect(await runs.get({ threadId: 'cancel', id })).toMatchObject({ status: 'cancelled' });
    await until('the branch has its answer', async () => (await threads.get('cancel')).activeRunId === null);
    expect((await runs.list({ threadId: 'cancel' })).data[0]).toMatchObject({
      status: 'completed',
      contextRef: 'default@2',
      agent: 'echo',
    });
    expect(await active('cancel')).toBe('default@2');
  });

  test('edit a question with a file: the branch has the new text, and the file', async () => {
    const { runs, threads } = site.api.lanefold;
    const input = [
      { type: 'text', text: 'What is this?' },
      { type: 'file', media_type: 'image/png', data: pixel },
    ] as const;
    await runs.wait(await runs.enqueue({ agent: 'viewer', threadId: 'file', input: [...input], createThread: true }));
    const seq = await newest('file', 'user');
    await go('#/threads/file');
    await page.getByRole('button', { name: `Edit the question #${seq}` }).click();
    const box = page.getByRole('textbox', { name: 'Message' });
    await expect.poll(() => box.inputValue()).toBe('What is this?');
    await expect.poll(() => page.locator('.composer').getByLabel('Agent').inputValue()).toBe('viewer');
    await box.fill('Which colour is it?');
    await page.keyboard.press('Control+Enter');
    await said('Which colour is it?').first().waitFor();
    await page.getByText('2 of 2').waitFor({ state: 'attached' });
    await until('it is answered', async () => (await threads.get('file')).activeRunId === null);
    await page.locator('.entry.assistant').getByText('1 file').first().waitFor();
    const questions = (await threads.entries('file', { kind: 'ai_message' })).filter(({ role }) => role === 'user');
    const [before, after] = questions.map(({ payload }) => payload['content'] as object[]);
    expect(after).toEqual([{ type: 'text', text: 'Which colour is it?' }, before![1]]);
    expect(site.faults).toEqual([]);
  });
});
