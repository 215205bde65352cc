// @module-tag long
import { serve, type ServerType } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import agents from '../../examples/chat/agents.ts';
import { createApp } from '../../examples/chat/app.ts';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel } from '../support/typed-model.ts';
import { deferred, until } from '../support/until.ts';

describe.skipIf(noBrowser)('the chat example in a browser', () => {
  const model = typedModel();
  let lanefold: TestLanefold;
  let server: ServerType;
  let browser: Browser;
  let url: string;
  const faults: string[] = [];
  /** The server refuses what pages ask for, as a proxy does while it restarts. */
  let down = false;
  /** Ends the streams that are open: as a proxy that has waited too long, or by breaking their connections. */
  const streams = new Set<(how: 'end' | 'break') => void>();
  const cut = (how: 'end' | 'break') => streams.forEach((stream) => stream(how));
  function cuttable(response: Response): Response {
    if (response.headers.get('content-type') !== 'text/event-stream') return response;
    const reader = response.body!.getReader();
    let stream: ((how: 'end' | 'break') => void) | undefined;
    const over = () => stream !== undefined && streams.delete(stream);
    const body = new ReadableStream({
      start(controller) {
        stream = (how) => {
          over();
          void reader.cancel().catch(() => {});
          if (how === 'end') controller.close();
          else controller.error(new Error('cut by the test'));
        };
        streams.add(stream);
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done && streams.has(stream!)) controller.enqueue(value);
        // otherwise it was cut
        if (done && over()) controller.close();
      },
      cancel(reason) {
        over();
        return reader.cancel(reason);
      },
    });
    return new Response(body, response);
  }
  beforeAll(async () => {
    lanefold = await startLanefold({
      agents: agents.map((agent) => defineAgent({ ...agent, model: 'typed:m' })),
      models: { typed: () => model },
    });
    await lanefold.startWorker();
    const app = await createApp(lanefold, 'secret');
    const fetch = async (request: Request) => {
      if (down && request.url.includes('/api/')) return new Response(null, { status: 503 });
      return cuttable(await app.fetch(request));
    };
    await new Promise<void>((ready) => {
      server = serve({ fetch, hostname: '127.0.0.1', port: 0 }, () => ready());
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = await launchBrowser();
  });
  beforeEach(() => model.clear());
  afterAll(async () => {
    await browser?.close();
    server?.close();
    await lanefold?.close();
  });

  /** A page of another person, or another tab of the person whose page it gets. */
  async function open(chat: string, other?: Page): Promise<Page> {
    const page = await (other?.context() ?? (await browser.newContext())).newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${url}?chat=${chat}`);
    return page;
  }
  const over = (page: Page) => until('it is over', async () => (await page.getByRole('status').innerText()) === '');
  const threadOf = async (chat: string) =>
    (await lanefold.threads.list()).data.find(({ id }) => id.endsWith(`:${chat}`))!.id;
  const lastRun = async (chat: string) => (await lanefold.runs.list({ threadId: await threadOf(chat) })).data[0]!;
  const say = async (page: Page, text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const shown = async (page: Page) =>
    (await page.getByRole('article').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));

  test('an answer is shown as it is written, and continues after a reload in the middle of it', async () => {
    const page = await open('one');
    await say(page, 'Where is A-17?');
    const keys = await model.next();
    keys.type('It is on ');
    await page.getByText('It is on').waitFor();
    await page.reload();
    await page.getByText('It is on').waitFor();
    keys.type('its way.');
    keys.stop();
    await page.getByText('It is on its way.').waitFor();
    await until('it is over', async () => (await page.getByRole('status').innerText()) === '');
    const conversation = ['You Where is A-17?', 'Shop It is on its way.'];
    expect(await shown(page)).toEqual(conversation);
    await page.reload();
    await page.getByText('It is on its way.').waitFor();
    expect(await shown(page)).toEqual(conversation);
    // somebody else has another thread, whatever the name of the chat
    expect(await shown(await open('one'))).toEqual([]);
  });

  test('an approval outlives a reload; once it is given, the run continues', async () => {
    const page = await open('two');
    await say(page, 'Refund A-17.');
    (await model.next()).stop(
      { id: 'a', name: 'look_up_order', args: { order: 'A-17' } },
      { id: 'b', name: 'refund', args: { order: 'A-17' } },
    );
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).click();
    const keys = await model.next();
    keys.type('Refunded.');
    await page.getByText('Refunded.').waitFor();
    keys.stop();
    await until('it is over', async () => (await page.getByRole('status').innerText()) === '');
    const conversation = [
      'You Refund A-17.',
      'Shop look_up_order({"order":"A-17"}): {"order":"A-17","state":"delivered","amount":49} ' +
        'refund({"order":"A-17"}): {"order":"A-17","refunded":49} Refunded.',
    ];
    expect(await shown(page)).toEqual(conversation);
    await page.reload();
    await page.getByText('Refunded.').waitFor();
    expect(await shown(page)).toEqual(conversation);
  });

  test('an answer that ends between the history and the resume is shown, once', async () => {
    const page = await open('gap');
    await say(page, 'Where is A-17?');
    const keys = await model.next();
    keys.type('It is on its way.');
    await page.getByText('It is on its way.').waitFor();
    for (const part of ['no part', 'every part'] as const) {
      // the history has been read; the run ends before the page resumes
      const resumes = deferred<() => Promise<void>>();
      await page.route('**/stream?*', (route) => resumes.resolve(() => route.continue()));
      await page.reload();
      const resume = await resumes.promise;
      if (part === 'no part') {
        expect(await shown(page)).toEqual(['You Where is A-17?']);
        keys.stop();
        await lanefold.runs.wait(await lastRun('gap'));
      }
      const answered = page.waitForResponse(/\/stream\?/);
      await resume();
      expect((await answered).status()).toBe(part === 'no part' ? 200 : 204);
      await page.unroute('**/stream?*');
      await page.getByText('It is on its way.').waitFor();
      await over(page);
      expect(await shown(page)).toEqual(['You Where is A-17?', 'Shop It is on its way.']);
    }
  });

  test.each(['end', 'break'] as const)(
    'an answer whose stream was cut (%s) is completed on the page, once',
    async (how) => {
      const page = await open(`cut-${how}`);
      await say(page, 'Where is A-17?');
      const keys = await model.next();
      keys.type('It is ');
      await page.getByText('It is', { exact: true }).waitFor();
      cut(how);
      // while it is written
      keys.type('on its ');
      await page.getByText('It is on its', { exact: true }).waitFor();
      // and after it has ended, because the server was away
      down = true;
      const refused = page.waitForResponse((response) => response.status() === 503);
      cut(how);
      keys.type('way.');
      keys.stop();
      await lanefold.runs.wait(await lastRun(`cut-${how}`));
      await refused;
      down = false;
      await page.getByText('It is on its way.').waitFor();
      await over(page);
      expect(await shown(page)).toEqual(['You Where is A-17?', 'Shop It is on its way.']);
      await say(page, 'Thanks.');
      const last = await model.next();
      last.type('Bye.');
      last.stop();
      await page.getByText('Bye.').waitFor();
    },
  );

  test('a question that was lost on its way is sent again, and asked once', async () => {
    const page = await open('lost');
    // the first never arrives; of the second the answer is lost
    await page.route('**/api/chat', (route) => route.abort('connectionreset'), { times: 1 });
    await say(page, 'Where is A-17?');
    const keys = await model.next();
    cut('break');
    keys.type('It is here.');
    keys.stop();
    await page.getByText('It is here.').waitFor();
    await over(page);
    expect(await shown(page)).toEqual(['You Where is A-17?', 'Shop It is here.']);
    expect((await lanefold.runs.list({ threadId: await threadOf('lost') })).data).toHaveLength(1);
  });

  test('two tabs, and a stop while one of them resumes: both show what was written until then, and so does a reload', async () => {
    const page = await open('tabs');
    await say(page, 'Tell me a story.');
    const keys = await model.next();
    keys.type('Once upon a time');
    await page.getByText('Once upon a time').waitFor();
    const resumes = deferred<() => Promise<void>>();
    await page.context().route('**/stream?*', (route) => resumes.resolve(() => route.continue()), { times: 1 });
    const other = await open('tabs', page);
    const resume = await resumes.promise;
    await page.getByRole('button', { name: 'Stop' }).click();
    const conversation = ['You Tell me a story.', 'Shop Once upon a time This answer ended early: user_cancelled'];
    await page.getByText('This answer ended early').waitFor();
    await resume();
    await other.getByText('This answer ended early').waitFor();
    for (const tab of [page, other]) {
      expect(await shown(tab)).toEqual(conversation);
      await tab.reload();
      await tab.getByText('Once upon a time').waitFor();
      expect(await shown(tab)).toEqual(conversation);
    }
  });

  test('a question is edited and answered again; reloads, another tab and a lost connection show the same branch', async () => {
    const page = await open('branches');
    const answer = async (text: string) => {
      const keys = await model.next();
      keys.type(text);
      keys.stop();
    };
    const versions = async (which: Page) =>
      (await which.getByRole('navigation').allInnerTexts()).map((text) => /\d\/\d/.exec(text)?.[0] ?? '');
    const shows = (which: Page, expected: string[]) => expect.poll(() => shown(which)).toEqual(expected);
    await say(page, 'one');
    await answer('First.');
    await shows(page, ['You one', 'Shop First.']);
    await over(page);
    await say(page, 'two');
    await answer('Second.');
    await shows(page, ['You one', 'Shop First.', 'You two', 'Shop Second.']);
    await over(page);

    await page.getByRole('button', { name: 'Edit' }).nth(1).click();
    await page.getByLabel('Edited message').fill('zwei');
    await page.getByRole('button', { name: 'Save' }).click();
    // its connection is lost in the middle of the answer
    const keys = await model.next();
    keys.type('Zwei');
    await page.getByText('Zwei', { exact: true }).waitFor();
    cut('break');
    keys.type('te.');
    keys.stop();
    await shows(page, ['You one', 'Shop First.', 'You zwei', 'Shop Zweite.']);
    await over(page);
    await page.reload();
    await shows(page, ['You one', 'Shop First.', 'You zwei', 'Shop Zweite.']);
    expect(await versions(page)).toEqual(['', '', '2/2', '']);

    await page.getByRole('button', { name: 'Answer again' }).nth(1).click();
    await answer('Zweite, again.');
    await shows(page, ['You one', 'Shop First.', 'You zwei', 'Shop Zweite, again.']);
    await expect.poll(() => versions(page)).toEqual(['', '', '2/2', '2/2']);

    const other = await open('branches', page);
    await shows(other, ['You one', 'Shop First.', 'You zwei', 'Shop Zweite, again.']);
    await other.getByRole('button', { name: 'Version before' }).nth(0).click();
    await shows(other, ['You one', 'Shop First.', 'You two', 'Shop Second.']);
    // the branch that the other tab shows is the one that a question continues
    await say(other, 'three');
    await answer('Third.');
    await shows(other, ['You one', 'Shop First.', 'You two', 'Shop Second.', 'You three', 'Shop Third.']);
    await page.reload();
    await shows(page, ['You one', 'Shop First.', 'You two', 'Shop Second.', 'You three', 'Shop Third.']);
    const runs = (await lanefold.runs.list({ threadId: await threadOf('branches') })).data;
    expect(runs.map(({ question }) => question)).toEqual(['three', 'zwei', 'zwei', 'two', 'one']);
    expect(faults).toEqual([]);
  });

  test('a denial is shown, a stop ends the run, and the chat continues', async () => {
    const page = await open('three');
    await say(page, 'Refund B-1.');
    (await model.next()).stop({ id: 'b', name: 'refund', args: { order: 'B-1' } });
    await page.getByRole('button', { name: 'Deny' }).click();
    const denied = await model.next();
    expect(JSON.stringify(denied.call.prompt)).toContain('The customer said no.');
    denied.type('Then not.');
    denied.stop();
    await page.getByText('refund({"order":"B-1"}) was denied.').waitFor();
    await until('it is over', async () => (await page.getByRole('status').innerText()) === '');
    await say(page, 'Tell me a story.');
    (await model.next()).type('Once upon');
    await page.getByText('Once upon').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('This answer ended early: user_cancelled').waitFor();
    await say(page, 'Thanks.');
    const last = await model.next();
    last.type('Bye.');
    last.stop();
    await page.getByText('Bye.').waitFor();
    expect(faults).toEqual([]);
  });
});
