// @module-tag long
import { defineAgent, defineTool, type RunHandle } from 'lanefold';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startApi, type Api } from '../api/helpers.ts';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { bundleWithReact, reactVersions } from '../support/react.ts';
import { typedModel, type Keyboard } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

const refund = defineTool({ name: 'refund', input: z.object({}), needsApproval: true, execute: () => 'refunded' });

const model = typedModel();
let api: Api;
let browser: Browser | undefined;
beforeAll(async () => {
  api = await startApi({
    agents: [defineAgent({ name: 'writer', model: 'typed:m', tools: [refund] })],
    models: { typed: () => model },
  });
  browser = noBrowser ? undefined : await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await api?.close();
});

describe.skipIf(noBrowser).each(reactVersions)('hooks of React %s in a browser, under StrictMode', (version) => {
  let script: string;
  const faults: string[] = [];
  beforeAll(async () => {
    script = await bundleWithReact(version, 'test/react/fixture.jsx', {});
  });

  interface Seen {
    page: Page;
    requests: string[];
  }
  async function open(hash: string, prepare?: (page: Page) => Promise<unknown>): Promise<Seen> {
    const page = await (await browser!.newContext()).newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(message.text());
    });
    const requests: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      requests.push(`${request.method()} ${pathname}${searchParams.has('wait') ? ' wait' : ''}`);
    });
    // on the origin of the API
    const html = `<!doctype html><title>t</title><div id="app"></div><script type="module">${script.replaceAll('</script', '<\\/script')}</script>`;
    await page.route('**/fixture', (route) => route.fulfill({ contentType: 'text/html', body: html }));
    await prepare?.(page);
    await page.goto(`${api.url}/fixture#${hash}`);
    return { page, requests };
  }
  const state = async (page: Page, which: string) =>
    JSON.parse((await page.locator(`#${which} output`).first().textContent())!) as Record<string, unknown>;
  const shows = (page: Page, which: string, expected: object) =>
    expect.poll(() => state(page, which), { timeout: 30_000 }).toMatchObject(expected);
  const start = async (): Promise<[RunHandle, Keyboard]> => {
    const run = await api.lanefold.runs.enqueue({ agent: 'writer', input: 'Write.' });
    return [run, await model.next()];
  };

  test('useRun shows a run from wherever it is to its end, also after an unmount and a reload', async () => {
    const [run, keys] = await start();
    keys.type('One ');
    const { page } = await open(`${run.threadId}/${run.id}`);
    await shows(page, 'run', { status: 'running', text: 'One ', ended: false });
    keys.type('two ');
    await shows(page, 'run', { text: 'One two ' });
    const toggle = page.getByRole('button', { name: 'Toggle' });
    await toggle.click();
    keys.type('three ');
    await toggle.click();
    await shows(page, 'run', { text: 'One two three ' });
    await page.reload();
    await shows(page, 'run', { text: 'One two three ' });
    keys.stop({ id: 'a', name: 'refund' });
    await page.getByRole('button', { name: 'refund' }).click();
    const last = await model.next();
    last.type('Done.');
    last.stop();
    await shows(page, 'run', { status: 'completed', ended: true, result: 'Done.', text: 'Done.' });
  });

  test('useRun continues where connections fail, and cancels', async () => {
    const [run, keys] = await start();
    keys.type('Once ');
    let failures = 0;
    const { page } = await open(`${run.threadId}/${run.id}`, async (page) =>
      page.route('**/events?*', (route) => (failures++ < 3 ? route.abort('connectionreset') : route.continue())),
    );
    await shows(page, 'run', { text: 'Once ' });
    expect(failures).toBeGreaterThan(3);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await shows(page, 'run', { status: 'cancelled', ended: true });
  });

  test('useRun of a run that does not exist has the error, until the run exists', async () => {
    const database = await api.lanefold.database.pool.connect();
    await database.query('begin');
    const request = { agent: 'writer', input: 'Write.', threadId: `late-${version}`, createThread: true };
    const run = await api.lanefold.runs.enqueue(request, { tx: database });
    const { page } = await open(`late-${version}/${run.id}`);
    expect((await page.title()).split('.')[0]).toBe(version);
    await page.locator('#run i', { hasText: 'run_not_found' }).waitFor();
    await database.query('commit');
    database.release();
    const keys = await model.next();
    keys.type('Here.');
    await shows(page, 'run', { status: 'running', text: 'Here.' });
    keys.stop();
    await shows(page, 'run', { ended: true, result: 'Here.' });
  });

  test('useThread follows a thread that another tab creates, also after another id, unmounts and mounts', async () => {
    const [first, second] = [await open(`tabs-${version}`), await open(`tabs-${version}`)];
    for (const { page } of [first, second]) await shows(page, 'thread', { status: 'ready', exists: false });
    await first.page.getByRole('button', { name: 'Send' }).first().click();
    const keys = await model.next();
    keys.type('Going');
    for (const { page } of [first, second])
      await shows(page, 'thread', { status: 'busy', exists: true, texts: ['Continue.', 'Going'] });
    keys.stop();
    for (const { page } of [first, second]) await shows(page, 'thread', { status: 'ready' });
    // one of the two components leaves for a thread that does not exist, and waits for that
    await second.page.getByRole('button', { name: 'Next' }).first().click();
    await shows(second.page, 'thread', { status: 'ready', exists: false, texts: [] });
    const toggle = second.page.getByRole('button', { name: 'Toggle' });
    await toggle.click();
    await toggle.click();
    await second.page.getByRole('button', { name: 'Next' }).first().click();
    await shows(second.page, 'thread', { exists: false });
    const run = { agent: 'writer', input: 'Next.', threadId: `tabs-${version}-next`, createThread: true };
    await api.lanefold.runs.enqueue(run);
    (await model.next()).stop();
    await shows(second.page, 'thread', { status: 'ready', exists: true });
    expect((await state(second.page, 'thread'))['texts']).toContain('Next.');
  });

  test('useThread sends once, and two components share one stream, which ends with them', async () => {
    const { page, requests } = await open(`shared-${version}`);
    await shows(page, 'thread', { status: 'ready', texts: [] });
    await page.getByRole('button', { name: 'Send' }).first().click();
    const keys = await model.next();
    keys.type('Going');
    await shows(page, 'thread', { status: 'busy', texts: ['Continue.', 'Going'] });
    await expect.poll(() => page.locator('#thread output').allTextContents()).toHaveLength(2);
    const [one, two] = await page.locator('#thread output').allTextContents();
    expect(one).toBe(two);
    expect(requests.filter((request) => request === `POST /v1/threads/shared-${version}/runs`)).toHaveLength(1);
    // the thread did not exist at first
    for (const wait of [' wait', ''])
      expect(requests.filter((request) => request === `GET /v1/threads/shared-${version}/events${wait}`)).toHaveLength(
        1,
      );
    await page.getByRole('button', { name: 'Toggle' }).click();
    keys.stop();
    await until('the run ends', async () => (await api.lanefold.threads.get(`shared-${version}`)).activeRunId === null);
    await page.getByRole('button', { name: 'Toggle' }).click();
    await shows(page, 'thread', { status: 'ready', texts: ['Continue.', 'Going'] });
  });

  test('useApprovals lists the calls of all threads, and decides', async () => {
    const [run, keys] = await start();
    keys.stop({ id: 'a', name: 'refund' });
    const { page } = await open('inbox');
    await page.getByRole('button', { name: run.id }).click();
    const last = await model.next();
    await page.getByRole('button', { name: run.id }).waitFor({ state: 'detached' });
    last.stop();
    const { toolCalls } = await api.lanefold.runs.wait(run).then(() => api.lanefold.runs.get(run));
    expect(toolCalls).toMatchObject([{ status: 'denied' }]);
    expect(faults).toEqual([]);
  });
});
