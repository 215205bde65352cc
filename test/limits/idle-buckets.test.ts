import { expect, test } from 'vitest';
import { dropOldBuckets } from '../../src/worker/process/background.ts';
import { dropIdleBuckets } from '../../src/database/store/limit/use-limits.ts';
import { rows, useLog, value } from '../db/helpers.ts';
import { limitsOf } from './log-limits.ts';

const log = useLog();

const { use, resume, ...limits } = limitsOf(log);
const set = (name: string, limit: object) => limits.set(name, { amount: 1_000, ...limit });

let runs = 0;
const ids = () => ({ thread_id: `t${++runs}`, run_id: `r${runs}` });

/** A run that has used this much of a bucket and has ended. */
async function spend(version: number, place: string, amount: number): Promise<void> {
  const run = ids();
  expect(await use({ ...run, version, take: [[place, amount]] })).toMatchObject([{ ok: true }]);
  await use({ ...run, end: { [place]: amount } });
}

const buckets = (name: string) =>
  rows(log.db, 'select key, used::int, total::int from lanefold.limit_usage where name = $1 order by key', name);

const dayMs = 86_400_000;

/** As if nobody had touched a limit, or one of its keys, for this many days. `sliceMs`: the length of its slices. */
const age = async (days: number, name: string, { key, sliceMs }: { key?: string; sliceMs?: number } = {}) => {
  const slices = sliceMs === undefined ? 0 : (days * dayMs) / sliceMs;
  await log.db.pool.query(
    'update lanefold._limit_bucket set touched_at = $1, slice = slice - $2 where name = $3 and key = coalesce($4, key)',
    [new Date(Date.now() - days * dayMs), slices, name, key ?? null],
  );
};
const ofDay = { sliceMs: dayMs / 32 };
const ofMinute = { sliceMs: 60_000 / 32 };

test('what nobody uses any more is deleted, and its total is kept', async () => {
  const version = await set('daily', { kind: 'tokens', scope: { customer: '*' }, per_ms: 86_400_000 });
  for (const [key, amount] of [
    ['acme', 100],
    ['initech', 20],
    ['umbrella', 3],
  ] as const)
    await spend(version, `* daily ${key}`, amount);
  await age(31, 'daily', { key: 'acme', ...ofDay });
  await age(31, 'daily', { key: 'initech', ...ofDay });
  await dropOldBuckets(log.db, 30);
  const kept = [
    { key: '', used: 0, total: 120 },
    { key: 'umbrella', used: 3, total: 3 },
  ];
  expect(await buckets('daily')).toEqual(kept);
  await dropOldBuckets(log.db, 30);
  expect(await buckets('daily')).toEqual(kept);
  await spend(version, '* daily acme', 7);
  expect(await buckets('daily')).toEqual([kept[0], { key: 'acme', used: 7, total: 7 }, kept[1]]);
});

test('what still counts stays, however long ago it was: a reservation, a slot, use in a month', async () => {
  const scope = { customer: '*' };
  const kinds = {
    held: { kind: 'tokens', scope, per_ms: 60_000 },
    slots: { kind: 'concurrency', scope },
    monthly: { kind: 'requests', scope, calendar: 'month' },
    single: { kind: 'tokens', scope: {}, per_ms: 60_000 },
  };
  let version = 0;
  for (const [name, limit] of Object.entries(kinds)) version = await set(name, limit);
  await use({ ...ids(), version, take: [['* held acme', 5]] });
  await use({ ...ids(), version, take: [['* slots acme', 1]] });
  await spend(version, '* single ', 5);
  await spend(version, '* monthly acme', 1);
  await age(400, 'slots');
  for (const name of ['held', 'single']) await age(400, name, ofMinute);
  await age(31, 'monthly');
  const before = await rows(log.db, 'select name, key from lanefold.limit_usage order by name, key');
  await dropOldBuckets(log.db, 30);
  expect(await rows(log.db, 'select name, key from lanefold.limit_usage order by name, key')).toEqual(before);
});

test('a run that has used a deleted bucket and ends late counts it again', async () => {
  const version = await set('late', { kind: 'runs', scope: { customer: '*' }, per_ms: 60_000 });
  const run = ids();
  await use({ ...run, version, take: [['* late acme', 1]] });
  await age(31, 'late', ofMinute);
  await dropOldBuckets(log.db, 30);
  expect(await buckets('late')).toEqual([{ key: '', used: 0, total: 1 }]);
  await use({ ...run, end: { '* late acme': 1 } });
  expect(await buckets('late')).toEqual([
    { key: '', used: 0, total: 1 },
    { key: 'acme', used: 0, total: 0 },
  ]);
});

test('turns that order nobody are deleted; one that is ahead stays', async () => {
  const version = await set('fair', { kind: 'concurrency', scope: {}, amount: 1, share_by: 'customer' });
  const place = '* fair ';
  const wait = (customer: string) => {
    const run = ids();
    const job = { queue: 'q', enqueue_no: 1, agent: 'a' };
    return use({ ...run, version, take: [[place, 1]], shares: { [place]: customer }, job }).then(() => run);
  };
  const holder = ids();
  await use({ ...holder, version, take: [[place, 1]], shares: { [place]: 'a' } });
  const order = [await wait('b'), await wait('c'), await wait('c')];
  let last = holder;
  for (const next of order) {
    const [ended] = await use({ ...last, end: {} });
    expect(await resume([ended!])).toMatchObject([next]);
    last = next;
  }
  const turns = () =>
    rows<{ share: string }>(log.db, "select share, turn from lanefold._limit_share where name = 'fair' order by share");
  const before = await turns();
  expect(before.map(({ share }) => share)).toEqual(['b', 'c']);
  await dropOldBuckets(log.db, 30);
  expect(await turns()).toEqual(before.filter(({ share }) => share === 'c'));
});

test('a removed limit keeps its buckets, and one that its provider holds back keeps that', async () => {
  const scope = { customer: '*' };
  await set('removed', { kind: 'tokens', scope, per_ms: 60_000 });
  const version = await set('drained', { kind: 'tokens', scope, per_ms: 60_000 });
  await spend(version, '* removed acme', 5);
  await spend(version, '* drained acme', 5);
  await use({ drain: { '* drained acme': 86_400_000 } });
  await age(31, 'removed', ofMinute);
  await age(31, 'drained', ofMinute);
  await value(log.db, "select lanefold.remove_limit('*', 'removed', 'test')");
  await dropOldBuckets(log.db, 0.55);
  await set('removed', { kind: 'tokens', scope, per_ms: 60_000 });
  expect(await buckets('removed')).toEqual([{ key: 'acme', used: 0, total: 5 }]);
  expect(await buckets('drained')).toEqual([{ key: 'acme', used: 0, total: 5 }]);
});

test('processes that delete at once, while others use the buckets, lose no total', async () => {
  const version = await set('busy', { kind: 'tokens', scope: { customer: '*' }, per_ms: 60_000 });
  const keys = Array.from({ length: 40 }, (_, n) => `* busy ${n % 2 ? 'a' : 'B'}${n}`);
  for (const place of keys) await spend(version, place, 1);
  await age(31, 'busy', ofMinute);
  await Promise.all([
    dropOldBuckets(log.db, 30),
    dropOldBuckets(log.db, 30),
    ...keys.slice(0, 10).map((place) => spend(version, place, 1)),
  ]);
  const left = await buckets('busy');
  expect(left.reduce((sum, one) => sum + Number(one['total']), 0)).toBe(50);
  expect(left.filter(({ key }) => key !== '').length).toBeLessThanOrEqual(10);
});

test('pages follow one another', async () => {
  // the last one by its name
  const version = await set('z', { kind: 'tokens', scope: { customer: '*' }, per_ms: 60_000 });
  for (let n = 0; n < 5; n++) await spend(version, `* z c${n}`, 1);
  await age(31, 'z', ofMinute);
  const pages = [];
  let after = await dropIdleBuckets(log.db, ['*', 'z', ''], 30, 2);
  for (; after !== null; after = await dropIdleBuckets(log.db, after, 30, 2)) pages.push(after[2]);
  expect(pages).toEqual(['c1', 'c3', 'c4']);
  expect(await buckets('z')).toEqual([{ key: '', used: 0, total: 5 }]);
});
