// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { bundlePage, compressed } from '../../src/server/page/routes.ts';
import { startApi } from '../api/helpers.ts';
import { expectAccessible, openSite, type Site } from './harness.ts';

test('the page is at most 50 kB compressed, and what few look at is loaded when they do', async () => {
  const files = [...(await compressed(await bundlePage('page')))].map(([name, { encodings }]): [string, number] => [
    name.replace(/-[\w-]{8}\.js$/, '.js'),
    // what browsers accept over https and from localhost; elsewhere they get gzip
    encodings.find((one) => one.name === 'br')!.content.length,
  ]);
  const first = ['app.css', 'app.js', 'index.html'];
  const sum = files.reduce((all, [name, size]) => (first.includes(name) ? all + size : all), 0);
  expect(sum).toBeLessThanOrEqual(50_000);
  const parts = {
    'agents.js': 2_000,
    'alarms.js': 1_500,
    'call.js': 2_700,
    'changed-words.js': 500,
    'compare.js': 3_000,
    'diff.js': 600,
    'evals.js': 7_300,
    'item-card.js': 1_100,
    'keep-case.js': 900,
    'limits.js': 3_600,
    'monitors.js': 1_600,
    'node-tree.js': 800,
    'operations.js': 4_700,
    'playground.js': 3_000,
    'schedules.js': 2_100,
    'side-by-side.js': 1_700,
    'version-diff.js': 700,
    'webhooks.js': 2_500,
  };
  expect(files.map(([name]) => name).sort()).toEqual([...first, ...Object.keys(parts)].sort());
  for (const [name, size] of files)
    if (name in parts) expect(size, name).toBeLessThanOrEqual(parts[name as keyof typeof parts]);
});

test('the page is off by an option', async () => {
  const api = await startApi({ worker: false, server: { page: false } });
  expect((await api.call('GET', '/')).status).toBe(404);
  expect((await api.call('GET', '/page/app.js')).status).toBe(404);
  await api.close();
});

describe.skipIf(noBrowser)('the page of a server with a key', () => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite({ server: { apiKey: 'sesame' } });
  });
  afterAll(() => site?.close());

  test('asks for the key, keeps it in the tab, and forgets it', async () => {
    const { page, context } = await site.open('dark');
    await page.goto(site.api.url);
    await page.getByLabel('API key').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The API key is wrong.').waitFor();
    await expectAccessible(page, 'sign-in');
    await page.getByLabel('API key').fill('sesame');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('No threads match').waitFor();
    await page.reload();
    await page.getByText('No threads match').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain(
      'sesame',
    );
    await context.close();
  });

  test('sends its files compressed, with a policy that allows nothing inline', async () => {
    const answer = await fetch(`${site.api.url}/page/app.js`, { headers: { 'accept-encoding': 'br' } });
    expect(answer.headers.get('content-encoding')).toBe('br');
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const again = await fetch(`${site.api.url}/page/app.js`, {
      headers: { 'if-none-match': answer.headers.get('etag')! },
    });
    expect(again.status).toBe(304);
    expect((await fetch(`${site.api.url}/page/other.js`)).status).toBe(404);
    expect((await fetch(`${site.api.url}/v1/threads`)).status).toBe(401);
  });
});
