// @module-tag slow
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineAgent, defineTool } from 'lanefold';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chromiumOptions, noBrowser } from '../support/browser.ts';
import { startApi, type Api } from './helpers.ts';

const weather = defineTool({
  name: 'weather',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'rain', celsius: 9 }),
});
const trains = defineTool({
  name: 'trains',
  input: z.object({ from: z.string(), to: z.string() }),
  execute: () => [{ departs: '10:12', arrives: '12:47', euro: 29 }],
});

const script = [
  { tools: [{ tool: 'weather', args: { city: 'Hamburg' } }] },
  { tools: [{ tool: 'trains', args: { from: 'Berlin', to: 'Hamburg' } }] },
  'It will rain in Hamburg at 9 °C: take an umbrella, and the 10:12 from Berlin, 29 €.',
];

describe.skipIf(noBrowser)('in a browser', () => {
  let api: Api;
  let context: BrowserContext;
  let page: Page;
  let profile: string;
  const elsewhere: string[] = [];
  beforeAll(async () => {
    api = await startApi({
      agents: [defineAgent({ name: 'travel', model: 'planner', tools: [weather, trains], maxIterations: 10 })],
      aliases: { planner: `scripted:${JSON.stringify(script)}?latency_ms=200` },
    });
    profile = await mkdtemp(path.join(tmpdir(), 'lanefold-browser-'));
    context = await chromium.launchPersistentContext(profile, {
      ...chromiumOptions,
      viewport: { width: 1280, height: 800 },
    });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('request', (request) => {
      if (!request.url().startsWith(api.url) && !request.url().startsWith('data:')) elsewhere.push(request.url());
    });
  });
  afterAll(async () => {
    await context?.close();
    await api?.close();
    if (profile) await rm(profile, { recursive: true, force: true });
  });

  test('Bull Board links to a finished run with its result, progress and log lines', async () => {
    const run = await api.lanefold.runs.enqueue({ agent: 'travel', input: 'To Hamburg?', model: 'planner' });
    await api.lanefold.runs.wait(run);

    await page.goto(`${api.url}/admin/queues`);
    await page.getByRole('link', { name: 'Runs' }).first().click();
    await page
      .getByRole('link', { name: /completed/i })
      .first()
      .click();
    await page.getByText('travel').first().waitFor();
    await page.getByText(`${run.id}.1`).first().click();
    await page.getByText('It will rain in Hamburg').first().waitFor();
    await page.getByText('Progress', { exact: true }).first().click();
    await page.getByText('iteration').first().waitFor();
    await page.getByText('Logs', { exact: true }).first().click();
    await page.getByText('[3] model answers').first().waitFor();
    if (process.env['LANEFOLD_SCREENSHOT']) await page.screenshot({ path: process.env['LANEFOLD_SCREENSHOT'] });
    expect(elsewhere).toEqual([]);
  });

  test('the reference shows the operations, sends a request, and stays silent', async () => {
    const said: string[] = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
    await page.goto(`${api.url}/docs`);
    await page.getByText('Enqueue a run').first().click();
    await page.getByText('/v1/threads/{thread_id}/runs').first().waitFor();
    await page.getByText('List threads, newest first, by creation or by latest question').first().click();
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/threads');
    await page
      .getByRole('button', { name: /execute/i })
      .first()
      .click();
    expect((await answered).status()).toBe(200);
    if (process.env['LANEFOLD_SCREENSHOT']) await page.screenshot({ path: process.env['LANEFOLD_SCREENSHOT'] });
    expect([elsewhere, said]).toEqual([[], []]);
  });
});
