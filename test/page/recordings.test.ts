// @module-tag long
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseRecording } from '../../src/ops/replay/recording.ts';
import { replay } from '../../src/ops/replay/replay.ts';
import { noBrowser } from '../support/browser.ts';
import { recordedFiles, shopFile } from '../replay/setup.ts';
import { openSite, type Site } from './harness.ts';

interface Shown {
  id: string;
  verdict: string;
  hash: string;
}

/** Opens one call after the other in the page, and reads what its badge says. */
const readBadges = (calls: [string, string][]) => `(async () => {
  const shown = [];
  for (const [thread, id] of ${JSON.stringify(calls)}) {
    location.hash = '#/threads/' + encodeURIComponent(thread) + '/calls/' + encodeURIComponent(id);
    // the badge of the call before is there until the address is read
    await new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
    while (document.querySelector('[data-call]')?.dataset.call !== id || !document.querySelector('[data-verdict]'))
      await new Promise(requestAnimationFrame);
    const { verdict } = document.querySelector('[data-verdict]').dataset;
    shown.push({ id, verdict, hash: document.querySelector('.hash code').title });
  }
  return shown;
})()`;

/** Calls of a recording that the browser looks at. */
const sampled = 16;

describe.skipIf(noBrowser)('the model calls of recorded conversations', () => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site?.close());

  // a change is checked with the first two
  for (const [i, file] of [shopFile, ...recordedFiles()].entries()) {
    test(
      `${path.basename(file)}: the page verifies calls, and one altered byte turns its badge red`,
      { timeout: 120_000, tags: i < 2 ? 'slow' : 'long' },
      async () => {
        const { database } = site.api.lanefold;
        const recording = parseRecording(file, readFileSync(file, 'utf8'));
        const report = await replay(recording, { databaseUrl: database.url, redisUrl: null, prefix: 'seen-' });
        expect(report.mismatches).toBe(0);
        const { rows: all } = await database.pool.query<{ thread_id: string; id: string; hash: string }>(
          `select thread_id, refs ->> 'llm_call_id' as id, refs ->> 'context_hash' as hash from lanefold.thread_entry
         where starts_with(thread_id, $1) and refs ? 'llm_call_id' order by thread_id, seq`,
          [`seen-${recording.name}:`],
        );
        expect(all.length).toBe(report.modelCalls);
        // evenly over the conversation; each costs the browser a tenth of a second
        const rows = all.filter((_, i) => i % Math.ceil(all.length / sampled) === 0);
        const calls = rows.map(({ thread_id, id }): [string, string] => [thread_id, id]);
        const { page, context } = await site.open();
        await page.goto(site.api.url);
        const verified = await page.evaluate<Shown[]>(readBadges(calls));
        expect(verified).toEqual(rows.map(({ id, hash }) => ({ id, verdict: 'verified', hash: `SHA-256 ${hash}` })));

        await page.route('**/calls/*', async (route) => {
          const response = await route.fetch();
          const call = (await response.json()) as { messages: { content: string }[] };
          const last = call.messages.at(-1)!;
          last.content = `${last.content.slice(0, -1)}${last.content.endsWith('~') ? '!' : '~'}`;
          await route.fulfill({ response, json: call });
        });
        await page.goto(`${site.api.url}/#/runs`);
        const altered = await page.evaluate<Shown[]>(readBadges(calls));
        expect(new Set(altered.map(({ verdict }) => verdict))).toEqual(new Set(['altered']));
        expect(altered.length).toBe(rows.length);
        await context.close();
        expect(site.faults).toEqual([]);
      },
    );
  }
});
