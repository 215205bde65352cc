// @module-tag long
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serve, type ServerType } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { defineAgent } from 'lanefold';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import agents from '../../examples/react-chat/agents.ts';
import { createApp } from '../../examples/react-chat/app.ts';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

describe.skipIf(noBrowser)('the React chat example in a browser', () => {
  const model = typedModel();
  let lanefold: TestLanefold;
  let server: ServerType;
  let browser: Browser;
  let url: string;
  let folder: string;
  const faults: string[] = [];
  const posted: string[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'lanefold-react-chat-'));
    await build({
      configFile: path.resolve('examples/react-chat/vite.config.ts'),
      logLevel: 'warn',
      // effects run twice only in React's development build
      mode: 'development',
      build: { outDir: folder, minify: false },
    });
    const [script] = readdirSync(path.join(folder, 'assets')).filter((name) => name.endsWith('.js'));
    expect(readFileSync(path.join(folder, 'assets', script!), 'utf8')).toContain('react-dom-client.development');
    lanefold = await startLanefold({
      agents: agents.map((agent) => defineAgent({ ...agent, model: 'typed:m' })),
      models: { typed: () => model },
      tokenSecrets: ['secret'],
    });
    await lanefold.startWorker();
    const api = await lanefold.startServer({ port: 0, page: false, apiKey: 'root' });
    const app = createApp(lanefold, { api: api.url, page: folder, secret: 'secret' });
    const counted = (request: Request) => {
      if (request.method === 'POST') posted.push(new URL(request.url).pathname.split('/').slice(4).join('/'));
      return app.fetch(request);
    };
    await new Promise<void>((ready) => {
      server = serve({ fetch: counted, hostname: '127.0.0.1', port: 0 }, () => ready());
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
    await lanefold?.close();
    if (folder) rmSync(folder, { recursive: true });
  });

  async function open(chat: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => faults.push(error.message));
    // React warns of updates of what is unmounted, and of state that differs between renders
    page.on('console', (message) => {
      if (message.type() === 'error' && !/404|favicon/.test(message.text())) faults.push(message.text());
    });
    await page.goto(`${url}?chat=${chat}`);
    return page;
  }
  const say = async (page: Page, text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const shown = async (page: Page) =>
    (await page.getByRole('article').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
  const over = (page: Page) => until('it is over', async () => (await page.getByRole('status').innerText()) === '');

  test('an answer is shown as it is written, and continues after a reload in the middle of it', async () => {
    const page = await open('one');
    await say(page, 'Where is A-17?');
    // before the server has said anything of it
    await page.getByText('Where is A-17?').waitFor();
    const keys = await model.next();
    keys.type('It is on ');
    await page.getByText('It is on').waitFor();
    await page.reload();
    await page.getByText('It is on').waitFor();
    expect(await shown(page)).toEqual(['You Where is A-17?', 'Shop It is on']);
    keys.type('its way.');
    keys.stop();
    await page.getByText('It is on its way.').waitFor();
    await over(page);
    const conversation = ['You Where is A-17?', 'Shop It is on its way.'];
    expect(await shown(page)).toEqual(conversation);
    await page.reload();
    await page.getByText('It is on its way.').waitFor();
    expect(await shown(page)).toEqual(conversation);
    expect(posted).toEqual(['runs']);
    // another visitor has another thread, whatever the name of the chat
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
    await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' });
    keys.type('Refunded.');
    await page.getByText('Refunded.').waitFor();
    keys.stop();
    await over(page);
    expect(await shown(page)).toEqual([
      'You Refund A-17.',
      'Shop look_up_order({"order":"A-17"}): {"order":"A-17","state":"delivered","amount":49} ' +
        'refund({"order":"A-17"}): {"order":"A-17","refunded":49} Refunded.',
    ]);
  });

  test('a question is edited and answered again, and the arrows lead between the branches', async () => {
    const page = await open('branches');
    const answer = async (text: string) => {
      const keys = await model.next();
      keys.type(text);
      keys.stop();
    };
    const shows = (expected: string[]) => expect.poll(() => shown(page)).toEqual(expected);
    await say(page, 'one');
    await answer('First.');
    await shows(['You one', 'Shop First.']);
    await over(page);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited message').fill('eins');
    await page.getByRole('button', { name: 'Save' }).click();
    await answer('Erste.');
    await shows(['You eins', 'Shop Erste.']);
    await over(page);
    await page.getByRole('button', { name: 'Answer again' }).click();
    await answer('Erste, again.');
    await shows(['You eins', 'Shop Erste, again.']);
    await over(page);
    await page.getByText('2/2').nth(1).waitFor();
    await page.getByRole('button', { name: 'Version before' }).first().click();
    await shows(['You one', 'Shop First.']);
    await page.reload();
    await shows(['You one', 'Shop First.']);
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
    await over(page);
    await say(page, 'Tell me a story.');
    (await model.next()).type('Once upon');
    await page.getByText('Once upon').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('This answer ended early: The customer stopped it.').waitFor();
    await over(page);
    await say(page, 'Thanks.');
    const last = await model.next();
    last.type('Bye.');
    last.stop();
    await page.getByText('Bye.').waitFor();
    await over(page);
    expect(faults).toEqual([]);
  });

  test('a question that the server refuses is taken back, with the reason', async () => {
    const page = await open('four');
    await page.route('**/runs', (route) =>
      route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'thread_busy', status: 409, detail: 'The thread is busy.', hint: 'Wait.' }),
      }),
    );
    await say(page, 'Hello?');
    await page.getByRole('alert').filter({ hasText: 'The thread is busy. Wait.' }).waitFor();
    expect(await shown(page)).toEqual([]);
    expect(await page.getByLabel('Message').inputValue()).toBe('Hello?');
  });
});
