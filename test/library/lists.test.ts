import { defineAgent } from 'lanefold';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { QueryWithSettings } from '../../src/database/postgres/query-with-settings.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

const agent = defineAgent({ name: 'a', model: 'fake' });
let lanefold: TestLanefold;
beforeAll(async () => {
  lanefold = await startLanefold({ agents: [agent], models: { fake: fakeModel([{ text: 'Yes.' }]) } });
});
afterAll(() => lanefold?.close());
afterEach(() => void vi.restoreAllMocks());

/** The settings of each statement that is sent meanwhile, by its text. */
async function sent(act: () => Promise<unknown>): Promise<[text: string, settings: string][]> {
  const all: [string, string][] = [];
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [given] = args as [string | { text?: string }];
    all.push([
      typeof given === 'string' ? given : (given.text ?? ''),
      given instanceof QueryWithSettings ? given.settings.join(' ') : '',
    ]);
    return query.apply(this, args) as never;
  });
  await act();
  vi.restoreAllMocks();
  return all;
}

const selects = /from lanefold\.(_run|_entry|thread) /;
/** What reads runs or threads by a filter, in whatever words. */
const isList = ([text]: [string, string]) => selects.test(text) && /order by|limit/.test(text);

// by an estimate of the cost that a limit cuts short, PostgreSQL would start parallel workers, or compile, for seconds
test.skipIf(citusLacks.plans).each<[string, () => Promise<unknown>]>([
  ['threads.list', () => lanefold.threads.list({ text: 'umbrella', metadata: { plan: 'free' } })],
  ['runs.list', () => lanefold.runs.list({ text: 'umbrella' })],
  ['runs.counts', () => lanefold.runs.counts({ text: 'umbrella' })],
  ['runs.cancelMany', () => lanefold.runs.cancelMany({ text: 'umbrella' }, { dryRun: true })],
  ['agents.versions', () => lanefold.agents.versions('a')],
  ['activity', () => lanefold.activity({ hours: 24 })],
])('%s is neither compiled nor parallel', async (_, list) => {
  const lists = (await sent(list)).filter(isList);
  expect(lists).not.toEqual([]);
  for (const [, settings] of lists) expect(settings).toContain('max_parallel_workers_per_gather,0 jit,off');
});

test.skipIf(citusLacks.plans)('what an alarm counts is neither compiled nor parallel', async () => {
  await lanefold.alarms.set('umbrellas', { filter: { text: 'umbrella' }, moreThan: 10 });
  const counting = sent(async () => {
    const worker = await lanefold.startWorker();
    await until('the alarm is counted', async () => (await lanefold.alarms.get('umbrellas')).countedAt !== null);
    await worker.stop();
  });
  const counts = (await counting).filter(([text]) => text.includes('websearch_to_tsquery'));
  expect(counts.length).toBeGreaterThan(1);
  for (const [, settings] of counts) expect(settings).toContain('max_parallel_workers_per_gather,0 jit,off');
});
