import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { isLanefoldError } from '../../src/base/errors.ts';
import { newThread, openLog, type TestLog } from './helpers.ts';
import { assertInvariants } from './invariants.ts';
import { sqlRun } from './sql-run.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog({ connections: 20 })));
afterEach(() => assertInvariants(log.db));
afterAll(() => log.drop());

const say = (content: string) => ({ message: { role: 'user' as const, content } });
const times = (n: number) => Array.from({ length: n }, (_, i) => i);

test('fifty writers on one thread get gapless seqs of their own, each batch in one piece', async () => {
  const threadId = await newThread(log);
  const receipts = await Promise.all(
    times(50).map((i) => log.threads.append(threadId, [say(`${i}.0`), say(`${i}.1`)])),
  );
  expect(receipts.map((r) => r.firstSeq).sort((a, b) => a - b)).toEqual(times(50).map((i) => i * 2));
  const entries = await log.threads.entries(threadId, { limit: 200 });
  expect(entries.map((e) => e.seq)).toEqual(times(100));
  for (const [i, { firstSeq }] of receipts.entries()) {
    expect(entries.slice(firstSeq, firstSeq + 2).map((e) => e.payload['content'])).toEqual([`${i}.0`, `${i}.1`]);
  }
  // the time of an entry is taken under the lock, so it never runs against the order
  for (const [i, entry] of entries.entries())
    expect(entry.at.getTime()).toBeGreaterThanOrEqual(entries[i - 1]?.at.getTime() ?? 0);
});

test('of writers that expect the same rev exactly one wins', async () => {
  const threadId = await newThread(log);
  for (const rev of times(3)) {
    const outcomes = await Promise.allSettled(
      times(15).map((i) => log.threads.append(threadId, [say(`${i}`)], { expectedRev: rev })),
    );
    expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(1);
    for (const o of outcomes) if (o.status === 'rejected') expect(isLanefoldError(o.reason, 'rev_conflict')).toBe(true);
  }
  expect((await log.threads.get(threadId)).rev).toBe(3);
});

test('the same key at the same time writes once', async () => {
  const threadId = await newThread(log);
  const receipts = await Promise.all(times(15).map(() => log.threads.append(threadId, [say('once')], { opId: 'k' })));
  expect(receipts.filter((r) => !r.duplicate)).toHaveLength(1);
  expect(new Set(receipts.map((r) => r.firstSeq))).toEqual(new Set([0]));
  expect((await log.threads.get(threadId)).rev).toBe(1);
});

test('one id can be created once', async () => {
  const outcomes = await Promise.allSettled(
    times(15).map(() => log.threads.create({ id: 'only-one', systemPrompt: 'p' })),
  );
  expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(1);
  for (const o of outcomes) if (o.status === 'rejected') expect(isLanefoldError(o.reason, 'thread_exists')).toBe(true);
});

test('of runs enqueued at once one becomes active; the same request is one run', async () => {
  const threadId = await newThread(log);
  const rejecting = await Promise.allSettled(times(10).map((i) => sqlRun(log.db, threadId, `r${i}`).enqueue()));
  expect(rejecting.filter((o) => o.status === 'fulfilled')).toHaveLength(1);
  for (const o of rejecting) if (o.status === 'rejected') expect(isLanefoldError(o.reason, 'thread_busy')).toBe(true);

  const waiting = await Promise.all(
    times(10).map((i) => sqlRun(log.db, threadId, `w${i}`).enqueue({ busy: 'wait', requestId: 'same' })),
  );
  expect(new Set(waiting.map((w) => w['run_id'])).size).toBe(1);
  expect(waiting.filter((w) => !w['duplicate'])).toHaveLength(1);
});

test('of workers that claim one job exactly one gets it', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  const claims = await Promise.all(times(15).map((i) => run.claim({ workerId: `w${i}` })));
  expect(claims.filter((c) => c['claimed'])).toHaveLength(1);
  expect(claims.filter((c) => !c['claimed']).map((c) => c['reason'])).toEqual(times(14).map(() => 'leased'));
  expect((await log.threads.get(threadId)).rev).toBe(1);
});
