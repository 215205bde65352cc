// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent, defineTool } from 'lanefold';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { noBrowser } from '../support/browser.ts';
import { fakeModel } from '../support/fake-model.ts';
import { openSite, type Site } from './harness.ts';
import { payloads } from './payloads.ts';

const echo = defineTool({ name: 'echo', input: z.object({ n: z.number() }), execute: ({ n }) => payloads[n] });

/** Every payload as reasoning, as the name of a tool, as its arguments and as the result of another; then all as the answer. */
const hostile = fakeModel((_, n) =>
  n < payloads.length
    ? {
        text: payloads[n]!,
        thinking: payloads[n]!,
        calls: [
          { id: `a${n}`, name: payloads[n]!, args: { [payloads[n]!]: payloads[n] } },
          { id: `b${n}`, name: 'echo', args: { n } },
        ],
      }
    : { text: payloads.join('\n') },
);

describe.skipIf(noBrowser)('what users, models and tools wrote', () => {
  let site: Site;
  let page: Page;
  let runId: string;
  beforeAll(async () => {
    site = await openSite({
      models: { hostile: () => hostile },
      agents: [defineAgent({ name: 'hostile', model: 'hostile:one', tools: [echo], maxIterations: 60 })],
    });
    const { threads, runs } = site.api.lanefold;
    await threads.create({ id: 'evil', metadata: Object.fromEntries(payloads.map((payload) => [payload, payload])) });
    for (const content of payloads) await threads.append('evil', [{ message: { role: 'user', content } }]);
    const run = await runs.enqueue({ agent: 'hostile', threadId: 'evil', input: payloads.join('\n') });
    runId = run.id;
    expect((await runs.wait(run)).status).toBe('completed');
    await threads.fork('evil', { id: 'evil-fork' });
    page = (await site.open()).page;
  });
  afterAll(() => site?.close());

  test('is fifty payloads', () => expect(new Set(payloads).size).toBe(50));

  test.each([
    ['the list of threads', '#/threads', '.preview'],
    ['the list of runs', '#/runs', 'tbody tr'],
    ['the conversation', '#/threads/evil', '.entry.tool'],
    ['a fork', '#/threads/evil-fork', '.mark.anchor .entry.tool'],
    ['the context', '#/threads/evil?tab=context', '.messages .entry.tool'],
    ['a model call', '#/threads/evil/calls/RUN.51', '[data-verdict=verified]'],
    ['a run', '#/threads/evil/runs/RUN', '.waterfall li:nth-child(150)'],
    ['a thread with such an id', `#/threads/${encodeURIComponent(payloads[1]!)}`, '.failure'],
    ['a run with such an id', `#/threads/evil/runs/${encodeURIComponent(payloads[12]!)}`, '.failure'],
    ['a call with such an id', `#/threads/evil/calls/${encodeURIComponent(payloads[16]!)}`, '.failure'],
    ['no view', `#/${encodeURIComponent(payloads[4]!)}`, '.empty'],
  ])('runs nowhere: %s', async (_, address, shown) => {
    await page.goto('about:blank');
    await page.goto(`${site.api.url}/${address.replace('RUN', runId)}`);
    await page.locator(shown).first().waitFor();
    const made = await page.evaluate(
      `[...document.querySelectorAll('#app script, #app iframe, #app img, #app svg, #app math, #app object, #app embed, ' +
        '#app video, #app audio, #app style, #app link, #app meta, #app base, #app marquee, #app template, #app [onerror]')]
        .map((element) => element.outerHTML)`,
    );
    expect(made).toEqual([]);
    expect(site.faults).toEqual([]);
  });

  test('is shown as it is', async () => {
    await page.goto(`${site.api.url}/#/threads/evil/calls/${runId}.51`);
    await page.locator('[data-verdict=verified]').waitFor();
    const texts = await page.locator('.messages .entry.user .text').allTextContents();
    expect(texts.slice(0, payloads.length)).toEqual(payloads);
    const named = await page.locator('.messages .entry.assistant .tool-name').allTextContents();
    // a call is shown as it was sent, with names that providers accept
    const replaced = named.filter((name) => name !== 'echo');
    expect(replaced).toHaveLength(payloads.length);
    for (const name of replaced) expect(name).toMatch(/^[\w-]{1,64}$/);
    const results = await page.locator('.messages .entry.tool .text').allTextContents();
    for (const payload of payloads) expect(results).toContain(payload);
    for (const tab of ['Diff to previous call', 'Answer', 'Tools (1)']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.locator('[role=tabpanel] .text, [role=tabpanel] .diff, [role=tabpanel] summary').first().waitFor();
    }
    expect(site.faults).toEqual([]);
  });
});
