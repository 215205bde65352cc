// @module-tag long
import { serve, type ServerType } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import agents from '../../examples/chat/agents.ts';
import { createApp } from '../../examples/chat/app.ts';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

describe.skipIf(noBrowser)('the chat example in a browser', () => {
  const model = typedModel();
  let lanefold: TestLanefold;
  let server: ServerType;
  let browser: Browser;
  let url: string;
  const faults: string[] = [];
  beforeAll(async () => {
    lanefold = await startLanefold({
      agents: agents.map((agent) => defineAgent({ ...agent, model: 'typed:m' })),
      models: { typed: () => model },
    });
    await lanefold.startWorker();
    const app = await createApp(lanefold, 'secret');
    await new Promise<void>((ready) => {
      server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => ready());
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
    await lanefold?.close();
  });

  async function open(chat: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${url}?chat=${chat}`);
    return page;
  }
  const say = async (page: Page, text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const shown = async (page: Page) =>
    (await page.getByRole('article').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));

  test('an answer is shown as it is written, and goes on after a reload in the middle of it', async () => {
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

  test('an approval outlives a reload; once it is given, the run goes on', async () => {
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

  test('a denial is shown, a stop ends the run, and the chat goes on', async () => {
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
