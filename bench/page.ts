import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import type { Servers } from './setup.ts';
import { openBrowser } from './support/browser.ts';
import { agents, growWorld, models } from './support/grown-world.ts';
import { quantile } from './support/median.ts';

const rounds = 5;

/** Where to go, and what is there once the view has its first content. */
const views: [name: string, address: string, content: string][] = [
  ['threads', '#/threads', 'tbody tr'],
  ['threads with a failed run', '#/threads?status=failed', 'tbody tr'],
  ['threads by mark', '#/threads?mark=tool_failed', 'tbody tr'],
  ['threads of an agent', '#/threads?agent=shop', 'tbody tr'],
  ['threads with a rare word', '#/threads?text=umbrella', 'tbody tr'],
  ['threads with a common word', '#/threads?text=order', 'tbody tr'],
  ['runs', '#/runs', 'tbody tr'],
  ['failed runs', '#/runs?status=failed', 'tbody tr'],
  ['runs by mark', '#/runs?mark=tool_failed', 'tbody tr'],
  ['runs with a common word', '#/runs?text=order', 'tbody tr'],
  ['thread', '#/threads/thread-1', '.entry'],
  ['operations', '#/operations', 'main h2'],
  ['agents', '#/agents', 'main h2'],
  ['approvals', '#/approvals', 'main h1'],
  ['schedules', '#/schedules', 'main h1'],
  ['webhooks', '#/webhooks', 'main h1'],
  ['alarms', '#/alarms', 'main h1'],
  ['monitors', '#/monitors', 'main h1'],
  ['evals', '#/evals', 'main h1'],
  ['limits', '#/limits', 'main h1'],
];

/** The time until each view of the page has content, and its slowest request, with 100,000 threads and a million runs. */
export async function pageOf(servers: Servers, { runs }: { runs: number }): Promise<void> {
  const browser = await openBrowser();
  if (!browser) return console.log('No browser: the page is not measured.');
  const url = await servers.database();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await growWorld(url, pool, runs);
  await measure(browser, url, pool);
  await pool.end();
}

async function measure(browser: Browser, url: string, pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<Record<string, string>>(
    'select (select count(*) from lanefold.thread) threads, (select count(*) from lanefold._run) runs, pg_database_size(current_database()) bytes',
  );
  const [{ threads, runs: found, bytes }] = rows as [Record<string, string>];
  console.log(`\nThe page with ${threads} threads and ${found} runs (${(Number(bytes) / 1e9).toFixed(1)} GB)`);
  const lanefold = await createLanefold({ databaseUrl: url, redisUrl: null, agents, models });
  const server = await lanefold.startServer({ port: 0 });
  const page = await browser.newPage();
  await page.goto(server.url);
  const times = views.map(() => ({ content: [] as number[], slowest: [] as { ms: number; path: string }[] }));
  for (let round = -1; round < rounds; round++) {
    for (const [n, view] of views.entries()) {
      const seen = await look(page, view);
      if (round < 0) continue;
      times[n]!.content.push(seen.contentMs);
      times[n]!.slowest.push(seen.slowest);
    }
  }
  await browser.close();
  await server.close();
  await lanefold.close();
  console.log('view                          first content, ms: p50  max   slowest request, ms: p50  max');
  for (const [n, [name]] of views.entries()) {
    const { content, slowest } = times[n]!;
    const worst = slowest.toSorted((a, b) => b.ms - a.ms)[0]!;
    const ms = slowest.map((one) => one.ms);
    const cells = [quantile(content, 0.5), quantile(content, 1), quantile(ms, 0.5), worst.ms];
    console.log(`${name.padEnd(44)}${cells.map((cell) => cell.toFixed(0).padStart(8)).join('')}   ${worst.path}`);
  }
}

interface Seen {
  contentMs: number;
  slowest: { ms: number; path: string };
}

/** Goes to a view from one without rows, until it has content and all that it asks for has come. */
async function look(page: Page, [name, address, content]: (typeof views)[number]): Promise<Seen> {
  const away = address === '#/limits' ? 'Evals' : 'Limits';
  await page.evaluate(`location.hash = '#/${away.toLowerCase()}'`);
  await page.locator('#title', { hasText: away }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate('performance.clearResourceTimings()');
  const { from, contentMs } = await page.evaluate<{ from: number; contentMs: number }>(`(async () => {
    const [from, before] = [performance.now(), document.title];
    location.hash = ${JSON.stringify(address)};
    while (document.title === before || !document.querySelector(${JSON.stringify(content)})) {
      if (performance.now() - from > 60000) throw new Error('no content: ' + ${JSON.stringify(name)});
      await new Promise(requestAnimationFrame);
    }
    return { from, contentMs: performance.now() - from };
  })()`);
  await page.waitForLoadState('networkidle');
  const requests = await page.evaluate<{ ms: number; path: string }[]>(
    `performance.getEntriesByType('resource').filter(({ startTime }) => startTime >= ${from}).map(({ duration, name }) => ({ ms: duration, path: new URL(name).pathname + new URL(name).search }))`,
  );
  return { contentMs, slowest: requests.toSorted((a, b) => b.ms - a.ms)[0] ?? { ms: 0, path: '' } };
}
