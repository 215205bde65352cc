// @module-tag long
import { defineAgent, defineTool } from 'lanefold';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openSite, type OpenPage, type Site } from './harness.ts';

const rows = Array.from({ length: 5_000 }, (_, n) => ({ order: `B-${n}`, state: 'on its way' }));
const mute = defineTool({ name: 'mute', input: z.object({}), execute: () => '' });
const list = defineTool({ name: 'list', input: z.object({}), execute: () => rows });
const longName = 'an-agent-with-a-name-that-no-column-of-a-list-has-room-for';
const calls = (tool: string) => [{ tools: [{ tool, args: {} }] }, 'Done.'];
const script = (turns: unknown) => `scripted:${JSON.stringify(turns)}`;

/** The reader is at the end of the conversation: the last entry ends in sight, and stays there while items are measured. */
const atEnd = `(() => {
  const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.virtual');
  return scrollHeight - scrollTop - clientHeight <= 1;
})()`;

describe.skipIf(noBrowser)('what is read on the page', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  beforeAll(async () => {
    site = await openSite({
      agents: [
        defineAgent({ name: 'mute', model: script(calls('mute')), tools: [mute] }),
        defineAgent({ name: 'lister', model: script(calls('list')), tools: [list] }),
        defineAgent({ name: 'silent', model: script(['']) }),
        defineAgent({ name: longName, model: script(['Yes.']) }),
      ],
    });
    ({ page, go } = await site.open());
  });
  afterAll(() => site?.close());
  const shownSeqs = async () =>
    (await page.locator('.entry-head > .num').allTextContents()).map((text) => Number(text.slice(1)));

  test('a long thread opens at its end, with all that was asked for before it', async () => {
    const { threads } = site.api.lanefold;
    await threads.create({ id: 'long' });
    // together more than a page of the server has room for, and of heights that nobody could know beforehand
    const line = 'Whatever has been said before is said again.\n';
    for (let n = 0; n < 15; n++)
      await threads.append('long', [
        { message: { role: 'user', content: `Question ${n}\n${line.repeat(n % 3 === 0 ? 300 : n % 3)}` } },
      ]);
    await threads.append(
      'long',
      Array.from({ length: 5 }, () => ({ message: { role: 'user', content: 'x' } })),
    );
    const filler = 'a'.repeat(150_000);
    for (let n = 0; n < 30; n++)
      await threads.append('long', [{ message: { role: 'user', content: `Answer ${n} ${filler}` } }]);
    await threads.append('long', [{ message: { role: 'user', content: 'The last word' } }]);
    const head = (await threads.get('long')).rev - 1;
    await go('#/threads/long');
    await page.getByText('The last word').waitFor({ timeout: 30_000 });
    await until('the reader is at the end', () => page.evaluate(atEnd));
    await expect.poll(() => page.getByLabel('As of entry').inputValue()).toBe(String(head));
    const first = async () => {
      const [button] = await page.getByRole('button', { name: /^Show entries before #/ }).allTextContents();
      return Number(button?.replace(/\D/g, '') ?? 0);
    };
    let from = await first();
    expect(from).toBeGreaterThan(0);
    while (from > 0) {
      await page.getByRole('button', { name: /^Show entries before #/ }).click();
      await until('there are more', async () => (await first()) < from);
      const before = await first();
      // none is left out between those that were there and those that came
      await until('they meet', async () => {
        const seqs = await shownSeqs();
        return seqs.includes(from) && seqs.includes(from - 1);
      });
      from = before;
    }
    await page.evaluate("document.querySelector('.virtual').scrollTo(0, 0)");
    await page.getByText('Question 0', { exact: false }).first().waitFor();
  });

  test('a reader who goes up stays there, and one who returns to the end follows it', async () => {
    const { threads } = site.api.lanefold;
    await threads.create({ id: 'grows' });
    const say = (content: string) => threads.append('grows', [{ message: { role: 'user', content } }]);
    for (let n = 0; n < 40; n++) await say(`Line ${n}\n${'and more\n'.repeat(n % 7)}`);
    await go('#/threads/grows');
    await page.getByText('Line 39').waitFor();
    await until('the reader is at the end', () => page.evaluate(atEnd));
    await page.getByText('Live: pause').waitFor();
    await site.ask('grows', 'One more at the end');
    await page.getByText('Take an umbrella.').waitFor();
    await until('the reader is at the end', () => page.evaluate(atEnd));
    await page.locator('.virtual').hover();
    await page.mouse.wheel(0, -900);
    await until('the reader has gone up', async () => !(await page.evaluate(atEnd)));
    await site.ask('grows', 'Another one');
    await page.getByText('49 entries').waitFor();
    expect(await page.evaluate(atEnd)).toBe(false);
  });

  test('a long result is a dozen lines until all of it is asked for', async () => {
    const id = await site.ask('big', 'List them', 'lister');
    await site.api.lanefold.runs.wait({ threadId: 'big', id });
    await go('#/threads/big');
    const result = page.locator('.entry.tool .text');
    const more = result.getByRole('button');
    expect(Number((await more.textContent())!.replace(/\D/g, ''))).toBeGreaterThan(230_000);
    const lines = async () => (await result.innerText()).split('\n').length;
    expect(await lines()).toBeLessThanOrEqual(13);
    await more.click();
    await page.getByText('B-4999').waitFor();
    await result.getByRole('button', { name: 'Show less' }).click();
    expect(await lines()).toBeLessThanOrEqual(13);
  });

  test('nothing is called nothing', async () => {
    for (const agent of ['mute', 'silent']) {
      const id = await site.ask(agent, 'Well?', agent);
      await site.api.lanefold.runs.wait({ threadId: agent, id });
      await go(`#/threads/${agent}`);
      await page.locator(agent === 'mute' ? '.entry.tool' : '.entry.assistant', { hasText: 'empty result' }).waitFor();
      await page.getByRole('link', { name: 'Run', exact: true }).first().click();
      const where = page.locator(agent === 'mute' ? '.fold' : '[aria-labelledby=result]', { hasText: 'empty result' });
      await where.waitFor({ state: 'attached' });
    }
  });

  test('what failed is red, and so is what was abandoned', async () => {
    const red = async (what: string) => {
      await page.locator(what).first().waitFor({ state: 'attached' });
      const colours = await page.evaluate<string[]>(`(() => {
        const element = document.querySelector(${JSON.stringify(what)});
        const red = document.createElement('p');
        red.style.color = 'var(--bad)';
        element.append(red);
        const { borderLeftColor, backgroundColor } = getComputedStyle(element);
        return [getComputedStyle(red).color, borderLeftColor, backgroundColor];
      })()`);
      expect(colours.slice(1), what).toContain(colours[0]);
    };
    const { runs } = site.api.lanefold;
    const left = await site.ask('left', 'Book it', 'booking');
    await until('it waits', async () => (await runs.get({ threadId: 'left', id: left })).status === 'suspended');
    await runs.cancel({ threadId: 'left', id: left });
    await go(`#/threads/left/runs/${left}`);
    await red('.span.tool .span-bar');
    await go('#/threads/left');
    await red('.entry.tool');
    const failed = await site.ask('fails', 'Well?', 'travel', 'broken:model');
    await go(`#/threads/fails/runs/${failed}`);
    await red('.span.end .span-bar');
  });

  test('titles tell what it is about, then the id', async () => {
    const run = await site.ask('titled', 'Is it\nraining?');
    await go('#/threads');
    await page.getByText('Is it raining?').waitFor();
    const title = () => page.title();
    expect(await title()).toBe('Threads · Lanefold');
    await go('#/threads/titled');
    await page.getByRole('heading', { name: 'Is it raining? titled', exact: true }).waitFor();
    expect(await title()).toBe('Is it raining? · titled · Lanefold');
    await page.locator('.side-run', { hasText: 'Is it' }).click();
    await page.getByRole('heading', { name: `Is it raining? ${run}`, exact: true }).waitFor();
    expect(await title()).toBe(`Is it raining? · ${run} · Lanefold`);
    await page.getByRole('link', { name: 'Model call 2' }).click();
    await page.getByRole('heading', { name: `Model call 2 of run ${run}`, exact: true }).waitFor();
    await page.locator('.crumbs', { hasText: run }).waitFor();
    expect(await title()).toBe(`Model call 2 of run · ${run} · Lanefold`);
    await go('#/runs');
    await page.locator('.preview', { hasText: 'Is it' }).first().waitFor();
  });

  test('the list begins with what was written to last', async () => {
    for (const thread of ['older', 'newer', 'older']) await site.ask(thread, `To ${thread}`);
    await go('#/threads');
    await page.getByText('To older').waitFor();
    const ids = await page.locator('tbody .id').allTextContents();
    expect(ids.slice(0, 2)).toEqual(['older', 'newer']);
  });

  test('a long name of an agent takes one line', async () => {
    await site.ask('named', 'Are you?', longName);
    for (const view of ['#/threads', '#/runs']) {
      await go(view);
      const cell = page.locator(`td[title="${longName}"]`);
      await cell.waitFor();
      expect((await page.locator('tr', { has: cell }).boundingBox())!.height).toBeLessThan(70);
    }
  });

  test('each filter in use is seen and removed on its own, on a phone too', async () => {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      for (const view of ['threads', 'runs']) {
        await go(`#/${view}?agent=travel&status=completed`);
        await page.getByRole('button', { name: 'Agent travel' }).waitFor();
        await page.getByRole('button', { name: 'Remove the filter Agent' }).click();
        await page.waitForURL(`${site.api.url}/#/${view}?status=completed`);
        await page.getByRole('button', { name: 'Clear' }).click();
        await page.waitForURL(`${site.api.url}/#/${view}`);
      }
    }
  });
});
