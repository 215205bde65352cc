import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LimitCall, Take } from '../../src/database/store/limit/use-limits.ts';
import { rows, useLog, value } from '../db/helpers.ts';
import { cases } from '../support/cases.ts';
import { waitingForLock } from '../support/database.ts';
import { until } from '../support/until.ts';
import { limitsOf } from './log-limits.ts';

const log = useLog();

const dayMs = 86_400_000;
const limits = {
  slots: { kind: 'concurrency', amount: 2 },
  starts: { kind: 'runs', amount: 40, per_ms: dayMs },
  calls: { kind: 'requests', amount: 12, per_ms: dayMs },
  tokens: { kind: 'tokens', amount: 100, per_ms: dayMs },
  dollars: { kind: 'money', amount: 200, calendar: 'month', time_zone: 'Europe/Berlin' },
};
const names = Object.keys(limits);

const { use, set, next, resume } = limitsOf(log);

interface Bucket {
  name: string;
  amount: number;
  used: number;
  reserved: number;
  granted: number;
  lined: number;
  waiting: number;
  total: number;
}

const job = { queue: 'q', enqueue_no: 1, agent: 'a' };
const runsOf = (name: string) => (n: number) => ({ thread_id: `${name}-${n}`, run_id: `${name}-${n}` });

const buckets = (key: string) =>
  rows<Bucket>(
    log.db,
    `select u.name, u.amount::float8, u.used::float8, u.reserved::float8, b.granted::float8, b.lined, u.waiting, u.total::float8
     from lanefold.limit_usage u join lanefold._limit_bucket b using (owner, name, key) where key = $1`,
    key,
  );

type Step =
  | { op: 'take'; run: number; tokens: number; waits: boolean }
  | { op: 'done'; run: number; share: number }
  | { op: 'base' | 'pause' | 'end'; run: number };

const run = fc.integer({ min: 0, max: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('take' as const),
      run,
      tokens: fc.integer({ min: 0, max: 60 }),
      waits: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant('done' as const), run, share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom('base' as const, 'pause' as const, 'end' as const), run }) },
);

let example = 0;

test('whatever runs take and give back, no limit is exceeded and nothing is lost', async () => {
  for (const [name, limit] of Object.entries(limits))
    await value(
      log.db,
      'select lanefold.set_limit($1, $2, $3)',
      '*',
      name,
      JSON.stringify({ scope: { customer: '*' }, by: 'test', ...limit }),
    );
  const version = names.length;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 25 }),
      async (batches) => {
        const key = `c${(example += 1)}`;
        const place = (name: string) => `* ${name} ${key}`;
        const ids = (n: number) => ({ thread_id: `${key}-t${n}`, run_id: `${key}-r${n}` });
        /** Open calls of each run, and what each run has used. */
        const open = new Map<number, { amount: number; slices: Record<string, number> }[]>();
        const used = new Map<number, number>();
        /** Tokens reserved for calls whose end is not known. */
        let lost = 0;
        let made = 0;
        for (const batch of batches) {
          // one call of a run at a time
          const steps = batch.filter((one, at) => batch.findIndex((other) => other.run === one.run) === at);
          const calls = steps.map((one): LimitCall => {
            const calls = open.get(one.run) ?? [];
            if (one.op === 'take') {
              const take: Take = [
                [place('calls'), 1],
                [place('dollars'), one.tokens],
                [place('slots'), 1],
                [place('starts'), 1],
                [place('tokens'), one.tokens],
              ];
              return { ...ids(one.run), version, take, ...(one.waits && calls.length === 0 ? { job } : {}) };
            }
            if (one.op === 'done') {
              const [call] = calls.splice(0, 1);
              if (!call) return { ...ids(one.run), pause: true };
              const spent = Math.floor(call.amount * one.share);
              used.set(one.run, (used.get(one.run) ?? 0) + spent);
              return {
                ...ids(one.run),
                done: ['tokens', 'dollars'].map((name) => [place(name), call.amount, call.slices[place(name)]!, spent]),
              };
            }
            lost += calls.reduce((sum, { amount }) => sum + amount, 0);
            open.delete(one.run);
            if (one.op === 'pause') return { ...ids(one.run), pause: true };
            const amounts = { [place('tokens')]: used.get(one.run) ?? 0, [place('dollars')]: used.get(one.run) ?? 0 };
            if (one.op === 'end') used.delete(one.run);
            return { ...ids(one.run), [one.op]: amounts };
          });
          const answers = await use(...calls);
          for (const [n, { ok, slices }] of answers.entries()) {
            const one = steps[n]!;
            // one that no worker executes has a grant
            if (!ok || one.op !== 'take' || calls[n]!.job !== undefined) continue;
            made += 1;
            open.set(one.run, [...(open.get(one.run) ?? []), { amount: one.tokens, slices: slices! }]);
          }
          await resume(answers);
          const accounts = await rows<{ holds: Record<string, [number]>; grants: Record<string, number> | null }>(
            log.db,
            'select holds, grants from lanefold._limit_account where run_id like $1',
            `${key}-%`,
          );
          const line = await rows<{ name: string; refused: boolean }>(
            log.db,
            'select name, refused from lanefold._limit_wait where key = $1',
            key,
          );
          const sum = (of: (account: (typeof accounts)[number]) => number | undefined) =>
            accounts.reduce((all, account) => all + (of(account) ?? 0), 0);
          for (const { name, amount, used, reserved, granted, lined, waiting } of await buckets(key)) {
            expect(used, name).toBeLessThanOrEqual(amount);
            expect(granted, name).toBe(sum(({ grants }) => grants?.[place(name)]));
            expect(reserved - granted, name).toBe(sum(({ holds }) => holds[place(name)]?.[0]));
            expect(lined, name).toBe(line.filter((one) => one.name === name).length);
            expect(waiting, name).toBe(line.filter((one) => one.name === name && one.refused).length);
          }
        }
        for (const { amount } of [...open.values()].flat()) lost += amount;
        const ended = [0, 1, 2, 3, 4].map((n) => {
          const amounts = { [place('tokens')]: used.get(n) ?? 0, [place('dollars')]: used.get(n) ?? 0 };
          return { ...ids(n), end: amounts };
        });
        await use(...ended);
        for (const { name, used, reserved, waiting, total } of await buckets(key)) {
          expect([name, reserved, waiting]).toEqual([name, 0, 0]);
          const counted = { slots: 0, tokens: total + lost }[name] ?? total;
          expect([name, used]).toEqual([name, counted]);
          if (name === 'calls') expect(total).toBe(made);
        }
      },
    ),
    { numRuns: cases(15) },
  );
});

test('another interval keeps what counts in the old one, and what is reserved settles in it', async () => {
  const set = (interval: object) =>
    value<number>(
      log.db,
      'select lanefold.set_limit($1, $2, $3)::int',
      '*',
      'changing',
      JSON.stringify({ kind: 'tokens', scope: {}, amount: 1_000, by: 'test', ...interval }),
    );
  const version = await set({ per_ms: 60_000 });
  const ids = { thread_id: 'changing', run_id: 'changing' };
  const place = '* changing ';
  const [first] = await use({ ...ids, version, take: [[place, 400]] });
  await set({ calendar: 'month', time_zone: 'UTC' });
  await use({ ...ids, done: [[place, 400, first!.slices![place]!, 100]] });
  expect(
    await rows(log.db, "select used::int, reserved::int, total::int from lanefold.limit_usage where name = 'changing'"),
  ).toEqual([{ used: 100, reserved: 0, total: 100 }]);
  await set({ per_ms: 3_600_000 });
  await use({ ...ids, end: { [place]: 150 } });
  expect(
    await rows(log.db, "select used::int, reserved::int, total::int from lanefold.limit_usage where name = 'changing'"),
  ).toEqual([{ used: 150, reserved: 0, total: 150 }]);
});

test('a limit that gives notice refuses nothing, and gives it once in an interval', async () => {
  const soft = (name: string, limit: object) =>
    set(name, { kind: 'tokens', amount: 100, on_exhausted: 'notice', ...limit });
  await soft('sliding', { per_ms: 60_000 });
  const version = await soft('monthly', { calendar: 'month' });
  const places = ['* sliding ', '* monthly '];
  let n = 0;
  /** A run that uses this much: which limits give notice before it does. */
  const run = async (amount: number) => {
    const ids = { thread_id: `soft-${++n}`, run_id: `soft-${n}` };
    const [answer] = await use({ ...ids, version, take: places.map((place) => [place, 9_999] as const) });
    await use({ ...ids, end: Object.fromEntries(places.map((place) => [place, amount])) });
    return answer!.passed?.toSorted();
  };
  /** As if everything had happened earlier by this interval. */
  const age = async (interval: string) => {
    await log.db.pool.query("update lanefold._limit set updated_at = '2020-01-01'");
    await log.db.pool.query(
      `update lanefold._limit_bucket b
       set noticed_at = noticed_at - interval '${interval}',
           slice = slice - (extract(epoch from interval '${interval}') * case name when 'sliding' then 32 / 60.0 else 1 end)::bigint
       where name in ('sliding', 'monthly')`,
    );
  };
  // what is reserved does not count, and the amount itself may be used
  expect(await run(100)).toBeUndefined();
  expect(await run(1)).toBeUndefined();
  expect(await run(500)).toEqual(places.toSorted());
  expect(await run(1)).toBeUndefined();
  await age('61 seconds');
  expect(await run(101)).toBeUndefined();
  expect(await run(1)).toEqual(['* sliding ']);
  await age('32 days');
  expect(await run(101)).toBeUndefined();
  expect(await run(1)).toEqual(places.toSorted());
});

test('runs for whose value nothing is left delay no others, and a limit that now gives notice lets all continue', async () => {
  const taken = { kind: 'concurrency', amount: 2, share_by: 'customer', reserve: { vip: 2 } };
  const version = await set('taken', taken);
  const slot = '* taken ';
  const wait = (customer: string, n: number) => {
    const id = `${customer}-${n}`;
    const ids = { thread_id: id, run_id: id };
    return use({ ...ids, version, take: [[slot, 1]] as const, shares: { [slot]: customer }, job, since: '2026-01-01' });
  };
  for (let n = 0; n < 60; n++) expect(await wait(`other${n}`, n)).toMatchObject([{ refused: slot }]);
  expect(await wait('vip', 1)).toMatchObject([{ ok: true }]);
  expect(await wait('vip', 2)).toMatchObject([{ ok: true }]);
  expect(await wait('vip', 3)).toMatchObject([{ refused: slot }]);
  const [ended] = await use({ thread_id: 'vip-1', run_id: 'vip-1', end: {} });
  expect(await next([ended!])).toMatchObject([{ run_id: 'vip-3' }]);

  const calls = await set('calls', { kind: 'requests', amount: 1, per_ms: 60_000 });
  const call = (n: number) =>
    use({
      thread_id: `call-${n}`,
      run_id: `call-${n}`,
      version: calls,
      take: [['* calls ', 1]] as const,
      job,
      since: `2026-01-0${n}`,
    });
  expect([...(await call(1)), ...(await call(2)), ...(await call(3))]).toMatchObject([
    { ok: true },
    { refused: '* calls ' },
    { refused: '* calls ' },
  ]);
  await set('calls', { kind: 'requests', amount: 1, per_ms: 60_000, on_exhausted: 'notice' });
  const [looked] = await use({ check: ['* calls '] });
  expect(looked!.ready).toMatchObject([{ run_id: 'call-2' }, { run_id: 'call-3' }]);
});

test('a resumed run that must end leaves the line, and the next one resumes', async () => {
  const version = await set('line', { kind: 'concurrency', amount: 1 });
  const ids = runsOf('line');
  const slot = ['* line ', 1] as const;
  const [first] = await use({ ...ids(1), version, take: [slot] });
  expect(first).toMatchObject({ ok: true });
  expect(
    await use(
      { ...ids(2), version, take: [slot], job, since: '2026-01-01' },
      { ...ids(3), version, take: [slot], job, since: '2026-01-02' },
    ),
  ).toMatchObject([{ refused: '* line ' }, { refused: '* line ' }]);
  const [ended] = await use({ ...ids(1), end: {} });
  expect(await next([ended!])).toMatchObject([ids(2)]);
  // what it waits for now ends runs
  await set('line', { kind: 'concurrency', amount: 0, on_exhausted: 'end' });
  const [late] = await use({ ...ids(2), granted: '* line ' });
  expect(late).toMatchObject({ refused: '* line ', ends: true });
  await set('line', { kind: 'concurrency', amount: 1 });
  expect(await next([late!])).toMatchObject([ids(3)]);
});

test('a call that waits while the run ends takes nothing that no account has', async () => {
  const version = await set('ending', { kind: 'concurrency', amount: 5 });
  const run = runsOf('ending')(1);
  const take: Take = [['* ending ', 1]];
  await use({ ...run, version, take });
  // a worker that has not heard of the end asks for its next call
  const ending = await log.pool.connect();
  try {
    await ending.query('begin');
    await ending.query('select lanefold.use_limits($1)', [JSON.stringify([{ ...run, end: {} }])]);
    const asked = use({ ...run, version, take });
    await until('the worker waits', async () => {
      return (await log.pool.query(waitingForLock)).rowCount;
    });
    await ending.query('commit');
    // nothing was done: the worker asks again
    expect(await asked).toMatchObject([{ stale: version }]);
  } finally {
    ending.release();
  }
  const reserved = async () => (await buckets('')).find(({ name }) => name === 'ending')!.reserved;
  expect(await reserved()).toBe(0);
  expect(await use({ ...run, version, take })).toMatchObject([{ ok: true }]);
  expect(await reserved()).toBe(1);
  await use({ ...run, end: {} });
  expect(await reserved()).toBe(0);
});

test('what two processes ask at once for a run that has no account counts it in line as often as it waits', async () => {
  const version = await set('pair', { kind: 'concurrency', amount: 1 });
  const ids = runsOf('pair');
  const take: Take = [['* pair ', 1]];
  await use({ ...ids(1), version, take });
  // who accepts the run puts it in line, while a worker that has its job asks already
  const accepting = await log.pool.connect();
  try {
    await accepting.query('begin');
    const queued = JSON.stringify([{ ...ids(2), version, take, job }]);
    await accepting.query('select lanefold.use_limits($1)', [queued]);
    const asked = use({ ...ids(2), version, take });
    await until('the worker waits', async () => {
      return (await log.pool.query(waitingForLock)).rowCount;
    });
    await accepting.query('commit');
    expect(await asked).toMatchObject([{ refused: '* pair ' }]);
  } finally {
    accepting.release();
  }
  const waiting = async () => (await buckets('')).find(({ name }) => name === 'pair')!.waiting;
  expect(await waiting()).toBe(1);
  const [ended] = await use({ ...ids(1), end: {} });
  expect(await next([ended!])).toMatchObject([ids(2)]);
  expect(await use({ ...ids(2), end: {} })).toMatchObject([{ ok: true }]);
  expect(await waiting()).toBe(0);
});

test('a run that asks again after its end, in the same call, is in line as if it had asked later', async () => {
  const version = await set('again', { kind: 'concurrency', amount: 1 });
  const ids = runsOf('again');
  const take: Take = [['* again ', 1]];
  await use({ ...ids(1), version, take });
  const asks = { ...ids(2), version, take, job };
  await use(asks);
  await use({ ...ids(2), end: {} }, asks);
  const [ended] = await use({ ...ids(1), end: {} });
  expect(await next([ended!])).toMatchObject([ids(2)]);
});
