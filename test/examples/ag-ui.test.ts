// @module-tag slow
import { serve, type ServerType } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import agents from '../../examples/ag-ui/agents.ts';
import { createApp } from '../../examples/ag-ui/app.ts';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

describe.skipIf(noBrowser)('the AG-UI example in a browser', () => {
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
    expect(faults).toEqual([]);
  });

  async function open(chat: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${url}?chat=${chat}`);
    await idle(page);
    return page;
  }
  const idle = (page: Page) => until('it is over', async () => (await page.getByRole('status').innerText()) === '');
  const say = async (page: Page, text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const shown = (page: Page) => page.getByRole('article').allInnerTexts();

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
    await idle(page);
    const conversation = ['You: Where is A-17?', 'Shop: It is on its way.'];
    expect(await shown(page)).toEqual(conversation);
    await page.reload();
    await page.getByText('It is on its way.').waitFor();
    expect(await shown(page)).toEqual(conversation);
    // another visitor has another thread, whatever the name of the chat
    expect(await shown(await open('one'))).toEqual([]);
  });

  test('approvals outlive a reload, and the page runs its own tool', async () => {
    const page = await open('two');
    await say(page, 'Refund A-17.');
    (await model.next()).stop(
      { id: 'a', name: 'look_up_order', args: { order: 'A-17' } },
      { id: 'b', name: 'refund', args: { order: 'A-17' } },
      { id: 'c', name: 'refund', args: { order: 'A-18' } },
    );
    await page.getByRole('button', { name: 'Approve' }).first().waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).first().click();
    await page.getByRole('button', { name: 'Deny' }).click();
    (await model.next()).stop({ id: 'd', name: 'set_title', args: { title: 'Refunded' } });
    const keys = await model.next();
    expect(JSON.stringify(keys.call.prompt.at(-1))).toContain('Refunded');
    keys.type('Done.');
    keys.stop();
    await page.getByText('Done.').waitFor();
    await idle(page);
    expect(await page.title()).toBe('Refunded');
    expect(await shown(page)).toMatchObject([
      'You: Refund A-17.',
      'Shop: look_up_order({"order":"A-17"}) refund({"order":"A-17"}) refund({"order":"A-18"})',
      '→ {"order":"A-17","state":"delivered","amount":49}',
      '→ {"order":"A-17","refunded":49}',
      expect.stringContaining('The call was denied'),
      'Shop: set_title({"title":"Refunded"})',
      '→ "Refunded"',
      'Shop: Done.',
    ]);
  });

  test('a stop ends the run, and the conversation continues', async () => {
    const page = await open('three');
    await say(page, 'Tell me a story.');
    (await model.next()).type('Once upon');
    await page.getByText('Once upon').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    await say(page, 'Thanks.');
    const last = await model.next();
    last.type('Bye.');
    last.stop();
    await page.getByText('Bye.').waitFor();
    await idle(page);
  });
});
