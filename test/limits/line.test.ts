import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LimitAnswer, LimitCall, ReadyRun, Take } from '../../src/database/store/limit/use-limits.ts';
import { rows, useLog, value } from '../db/helpers.ts';
import { limitsOf } from './log-limits.ts';
import { cases } from '../support/cases.ts';

const log = useLog();
const { use, set, next, resume } = limitsOf(log);

const job = { queue: 'q', enqueue_no: 1, agent: 'a' };
const idOf = (id: string) => ({ thread_id: id, run_id: id });
const line = () =>
  rows<{ run: string; name: string; refused: boolean }>(
    log.db,
    'select run_id as run, name, refused from lanefold._limit_wait order by since, run_id, name',
  );
const emptyLine = async () => expect(await line()).toEqual([]);

/** Asks for a run that no worker executes. */
const ask = async (id: string, version: number, take: Take, more: Partial<LimitCall> = {}) =>
  (await use({ ...idOf(id), version, take, job, ...more }))[0]!;
const end = (...ids: string[]) => use(...ids.map((id) => ({ ...idOf(id), end: {} })));
const namesOf = (ready: readonly ReadyRun[]) => ready.map(({ run_id }) => run_id);

test('runs that wait for two limits resume as soon as both have room, one after the other', async () => {
  await set('one', { kind: 'concurrency', amount: 1 });
  const version = await set('two', { kind: 'concurrency', amount: 1 });
  const [one, two] = [
    ['* one ', 1],
    ['* two ', 1],
  ] as const;
  const both = [one, two];
  await use({ ...idOf('x'), version, take: [one] }, { ...idOf('y'), version, take: [two] });
  for (const id of ['a', 'b', 'c']) expect(await ask(id, version, both)).toMatchObject({ refused: '* one ' });
  expect(await resume(await end('x'))).toEqual([]);
  expect(namesOf(await resume(await end('y')))).toEqual(['a']);
  expect(namesOf(await resume(await end('a')))).toEqual(['b']);
  expect(namesOf(await resume(await end('b')))).toEqual(['c']);
  await end('c');
  await emptyLine();
});

test('a run keeps from others only what it could use now', async () => {
  await set('own', { kind: 'concurrency', scope: { customer: '*' }, amount: 1 });
  const version = await set('shared', { kind: 'concurrency', amount: 2 });
  const of = (customer: string): Take => [
    [`* own ${customer}`, 1],
    ['* shared ', 1],
  ];
  expect(await ask('acme-1', version, of('acme'))).toMatchObject({ ok: true });
  expect(await ask('acme-2', version, of('acme'))).toMatchObject({ refused: '* own acme' });
  // the second shared slot is free, and the run before it in the line cannot use it
  expect(await ask('bolt-1', version, of('bolt'))).toMatchObject({ ok: true });
  expect(await ask('coil-1', version, of('coil'))).toMatchObject({ refused: '* shared ' });
  expect(namesOf(await resume(await end('bolt-1')))).toEqual(['coil-1']);
  expect(namesOf(await resume(await end('acme-1', 'coil-1')))).toEqual(['acme-2']);
  await end('acme-2');
  await emptyLine();
});

test('a large run is not overtaken by small ones that come later', async () => {
  const version = await set('tokens', { kind: 'tokens', amount: 100, calendar: 'month' });
  const tokens = (amount: number): Take => [['* tokens ', amount]];
  await use({ ...idOf('used'), version, take: tokens(60) });
  expect(await ask('large', version, tokens(50))).toMatchObject({ refused: '* tokens ' });
  expect(await ask('small', version, tokens(10))).toMatchObject({ refused: '* tokens ' });
  // not by a run with a priority of its own either, but by one that comes before it
  expect(await ask('urgent', version, tokens(10), { since: '2020-01-01' })).toMatchObject({ ok: true });
  expect(namesOf(await resume(await end('used')))).toEqual(['large', 'small']);
  await end('large', 'small', 'urgent');
  await emptyLine();
});

test('a call of a run at work is not behind runs that were accepted after it', async () => {
  const version = await set('calls', { kind: 'requests', amount: 2, calendar: 'month' });
  const take: Take = [['* calls ', 1]];
  expect(await use({ ...idOf('early'), version, take, since: '2026-01-01' })).toMatchObject([{ ok: true }]);
  await use({ ...idOf('other'), version, take, since: '2026-01-02' });
  expect(await ask('later', version, take, { since: '2026-01-03' })).toMatchObject({ refused: '* calls ' });
  const raised = await set('calls', { kind: 'requests', amount: 3, calendar: 'month' });
  expect(await use({ ...idOf('early'), version: raised, take, since: '2026-01-01' })).toMatchObject([{ ok: true }]);
  await end('early', 'other', 'later');
  await value(log.db, "select lanefold.remove_limit('*', 'calls', 'test')");
});

test('a grant is not used: a run that is granted, asks for more and is refused has used nothing', async () => {
  const version = await set('grants', { kind: 'requests', amount: 1, calendar: 'month' });
  const take: Take = [['* grants ', 1]];
  expect(await ask('granted', version, take)).toMatchObject({ ok: true });
  const usage = () =>
    rows<object>(log.db, "select used::int, reserved::int, total::int from lanefold.limit_usage where name = 'grants'");
  expect(await usage()).toEqual([{ used: 1, reserved: 1, total: 0 }]);
  const full = await set('more', { kind: 'concurrency', amount: 0 });
  for (let n = 0; n < 3; n++) {
    const [refused] = await use({ ...idOf('granted'), version: full, take: [...take, ['* more ', 1]] });
    expect(refused).toMatchObject({ refused: '* more ' });
    expect(await usage()).toEqual([{ used: 0, reserved: 0, total: 0 }]);
  }
  await set('more', { kind: 'concurrency', amount: 1 });
  await end('granted');
  await value(log.db, "select lanefold.remove_limit('*', 'more', 'test')");
});

test('a grant of a start lasts until the run starts, and starts count when they are made', async () => {
  const version = await set('starts', { kind: 'runs', amount: 2, per_ms: 60_000 });
  const take: Take = [['* starts ', 1]];
  for (const id of ['s1', 's2']) expect(await ask(id, version, take)).toMatchObject({ ok: true });
  expect(await ask('s3', version, take)).toMatchObject({ refused: '* starts ' });
  // as if the interval had passed before a worker had a place for them
  await log.db.pool.query("update lanefold._limit_bucket set slice = slice - 40 where name = 'starts'");
  expect(await resume(await use({ check: ['* starts '] }))).toEqual([]);
  expect(await use({ ...idOf('s1'), version, take }, { ...idOf('s2'), version, take })).toMatchObject([
    { ok: true },
    { ok: true },
  ]);
  expect(await use({ ...idOf('s4'), version, take })).toMatchObject([{ refused: '* starts ' }]);
  expect(await rows(log.db, "select used::int, total::int from lanefold.limit_usage where name = 'starts'")).toEqual([
    { used: 2, total: 2 },
  ]);
  await end('s1', 's2', 's3', 's4');
});

test('a run for which no worker is alive gets no slot, and keeps none from others; one that starts later does', async () => {
  const version = await set('slots', { kind: 'concurrency', amount: 1 });
  const take: Take = [['* slots ', 1]];
  const report = (agents: string[], more: object = {}) =>
    value(log.db, 'select lanefold.report_worker($1, $2)::text', agents.join(), {
      host: 'h',
      pid: 1,
      version: '0',
      queue: 'fleet',
      agents,
      strategies: [],
      versions: [],
      concurrency: 1,
      dead_after_ms: 600_000,
      runs_held: 0,
      draining: false,
      stopped: false,
      ...more,
    });
  await report(['known']);
  const of = (agent: string) => ({ job: { ...job, prefix: 'fleet', agent } });
  expect(await ask('u1', version, take, of('unknown'))).toMatchObject({ refused: '* slots ' });
  expect(await ask('k1', version, take, of('known'))).toMatchObject({ ok: true });
  expect(await ask('k2', version, take, of('known'))).toMatchObject({ refused: '* slots ' });
  expect(namesOf(await resume(await end('k1')))).toEqual(['k2']);
  await report(['unknown']);
  expect(namesOf(await resume(await end('k2')))).toEqual(['u1']);
  // its worker stops before it takes the run
  expect(await ask('k3', version, take, of('known'))).toMatchObject({ refused: '* slots ' });
  await report(['unknown'], { stopped: true });
  expect(namesOf(await resume(await use({ ...idOf('u1'), pause: true, idle_ms: 60_000 })))).toEqual([]);
  expect(namesOf(await resume(await use({ ...idOf('u1'), pause: true })))).toEqual(['k3']);
  await end('u1', 'k3');
});

/** What a run of the property below needs: of two kinds of slots, of tokens, and starts. */
interface Wanted {
  slots: boolean[];
  tokens: number;
  priority: number;
  share: string;
}
type Move = { op: 'ask'; run: Wanted } | { op: 'claim' | 'end' | 'cancel'; at: number };
const wanted: fc.Arbitrary<Wanted> = fc.record({
  slots: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
  tokens: fc.integer({ min: 1, max: 10 }),
  priority: fc.integer({ min: 0, max: 2 }),
  share: fc.constantFrom('x', 'y'),
});
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant('ask' as const), run: wanted }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constantFrom('claim' as const, 'end' as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('cancel' as const), at: fc.nat(20) }) },
);

test('whatever runs want and in whichever order they end, every run gets its turn, and no limit is exceeded', async () => {
  let example = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(move, { minLength: 5, maxLength: 40 }),
      fc.record({ a: fc.integer({ min: 1, max: 3 }), b: fc.integer({ min: 1, max: 3 }), fair: fc.boolean() }),
      async (moves, { a, b, fair }) => {
        const key = `p${(example += 1)}`;
        const amounts = { [`${key}-a`]: a, [`${key}-b`]: b, [`${key}-t`]: 12 };
        const share = fair ? { share_by: 'customer' } : {};
        await set(`${key}-a`, { kind: 'concurrency', amount: a, ...share });
        await set(`${key}-b`, { kind: 'concurrency', amount: b });
        const version = await set(`${key}-t`, { kind: 'tokens', amount: 12, calendar: 'month' });
        const takeOf = ({ slots, tokens }: Wanted): Take => [
          ...(slots[0] ? [[`* ${key}-a `, 1] as const] : []),
          ...(slots[1] ? [[`* ${key}-b `, 1] as const] : []),
          [`* ${key}-t `, tokens],
        ];
        const runs = new Map<string, Wanted>();
        const granted: string[] = [];
        const working: string[] = [];
        const settle = async (answers: LimitAnswer[]) => {
          granted.push(...namesOf(await resume(answers)));
          const found = await rows<{ name: string; used: number }>(
            log.db,
            `select name, used::int from lanefold.limit_usage where starts_with(name, $1)`,
            `${key}-`,
          );
          for (const { name, used } of found) expect(used, name).toBeLessThanOrEqual(amounts[name]!);
        };
        const claim = async (id: string) => {
          granted.splice(granted.indexOf(id), 1);
          const answers = await use({ ...idOf(id), version, take: takeOf(runs.get(id)!), base: {} });
          // its grant is what it takes, whatever happened since
          expect(answers).toMatchObject([{ ok: true }]);
          working.push(id);
          await settle(answers);
        };
        const leave = async (id: string) => settle(await end(id));
        for (const one of moves) {
          if (one.op === 'ask') {
            const id = `${key}-${runs.size}`;
            runs.set(id, one.run);
            const shares = fair ? { shares: { [`* ${key}-a `]: one.run.share } } : {};
            const answer = await ask(id, version, takeOf(one.run), { priority: one.run.priority, ...shares });
            if (answer.ok) granted.push(id);
            await settle([answer]);
          } else if (one.op === 'claim' && granted.length > 0) {
            await claim(granted[one.at % granted.length]!);
          } else if (one.op === 'end' && working.length > 0) {
            await leave(working.splice(one.at % working.length, 1)[0]!);
          } else if (one.op === 'cancel' && runs.size > 0) {
            const id = [...runs.keys()][one.at % runs.size]!;
            if (granted.includes(id) || working.includes(id)) continue;
            await leave(id);
          }
        }
        while (granted.length + working.length > 0) {
          for (const id of [...granted]) await claim(id);
          for (const id of working.splice(0)) await leave(id);
        }
        expect((await line()).filter(({ run }) => run.startsWith(`${key}-`))).toEqual([]);
      },
    ),
    { numRuns: cases(10) },
  );
});

test('a run that is behind another one in one limit is not next in another', async () => {
  await set('behind-a', { kind: 'concurrency', amount: 5 });
  const version = await set('behind-t', { kind: 'tokens', amount: 100, calendar: 'month' });
  const tokens = (amount: number) => ['* behind-t ', amount] as const;
  await use({ ...idOf('user'), version, take: [tokens(60)] });
  expect(await ask('large', version, [tokens(50)])).toMatchObject({ refused: '* behind-t ' });
  expect(await ask('small', version, [['* behind-a ', 1], tokens(10)])).toMatchObject({ refused: '* behind-t ' });
  const [checked] = await use({ check: ['* behind-a '] });
  expect(checked).toEqual({ ok: true });
  expect(namesOf(await resume(await end('user')))).toEqual(['large', 'small']);
  await end('large', 'small');
});

test('what is checked and cannot resume is not checked again at once', async () => {
  await set('calm-a', { kind: 'requests', amount: 1_000, per_ms: 60_000 });
  const version = await set('calm-b', { kind: 'requests', amount: 1, per_ms: 60_000 });
  const take: Take = [
    ['* calm-a ', 1],
    ['* calm-b ', 1],
  ];
  await use({ ...idOf('calm'), version, take });
  for (let n = 0; n < 60; n++) await ask(`calm-${n}`, version, take);
  const [checked] = await use({ check: ['* calm-a '] });
  expect(checked).toMatchObject({ ok: true });
  expect(checked!.ready).toBeUndefined();
  // when the other limit has room again
  expect(Object.keys(checked!.look!)).toEqual(['* calm-b ']);
  expect(checked!.look!['* calm-b ']).toBeGreaterThan(1_000);
  expect(await next([checked!])).toEqual([]);
});
