// @module-tag slow
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newThread, refused, rows, useLog, value } from './helpers.ts';
import { input, sqlRun } from './sql-run.ts';

const log = useLog();
const kib = (n: number) => 'x'.repeat(n * 1_024);
const say = (text: string) => [{ message: { role: 'user' as const, content: text } }];

beforeEach(() => void (log.db.settings.maxContextBytes = 10 * 1_024));
afterEach(() => void (log.db.settings.maxContextBytes = undefined));

const bytesOf = (threadId: string, lane = 'default') =>
  value<string>(log.db, 'select lanefold._lane_bytes($1, $2, 1000)', threadId, lane).then(Number);

test('an append, an operation and a run that would exceed the limit are refused and write nothing', async () => {
  const threadId = await newThread(log);
  await log.threads.append(threadId, say(kib(6)));
  await refused(log.threads.append(threadId, say(kib(6))), 'context_too_large');
  await refused(log.contexts.replace(threadId, { entries: [{ role: 'user', content: kib(11) }] }), 'context_too_large');
  const run = value(log.db, 'select lanefold.enqueue_run($1, $2)', threadId, {
    run_id: 'r',
    request_id: 'r',
    request_hash: 'aa',
    agent: 'a',
    strategy: 'react',
    model: 'm',
    input: { content: kib(6) },
    max_context_bytes: log.db.settings.maxContextBytes,
  });
  await refused(run, 'context_too_large');
  expect(await rows(log.db, 'select from lanefold._entry where thread_id = $1', threadId)).toHaveLength(1);
  expect(await rows(log.db, 'select from lanefold._run where thread_id = $1', threadId)).toEqual([]);
  // another lane has its own limit, and a new anchor makes room
  await log.threads.append(threadId, [{ ...say(kib(6))[0]!, contextRef: 'other' }]);
  await log.contexts.reset(threadId);
  await log.threads.append(threadId, say(kib(6)));
  expect(await bytesOf(threadId)).toBeGreaterThan(6 * 1_024);
  expect(await bytesOf(threadId)).toBeLessThan(7 * 1_024);
});

test('the size of a lane is the size of its messages', async () => {
  const threadId = await newThread(log);
  await log.threads.append(threadId, say(kib(5)));
  const known = await bytesOf(threadId);
  const entry = `insert into lanefold._entry (thread_id, seq, at, kind, context_ref, role, payload, bytes)
    select thread_id, 1, at, kind, context_ref, role, payload, bytes from lanefold._entry where thread_id = $1`;
  await rows(log.db, entry, threadId);
  await rows(log.db, 'update lanefold.thread set rev = 2 where id = $1', threadId);
  const both = await bytesOf(threadId);
  expect(both).toBeGreaterThan(known + 5 * 1_024);
  expect(both).toBeLessThan(known + 6 * 1_024);
  await refused(log.threads.append(threadId, say('one more')), 'context_too_large');
});

test('a claim of a lane that is too large ends the run and does not write its message', async () => {
  const threadId = await newThread(log);
  log.db.settings.maxContextBytes = undefined;
  await log.threads.append(threadId, say(kib(20)));
  const [run, next] = [sqlRun(log.db, threadId, 'run'), sqlRun(log.db, threadId, 'next')];
  await run.enqueue();
  await next.enqueue({ busy: 'wait' });
  const claim = await value(log.db, 'select lanefold.claim_run($1, $2, 1, $3)', threadId, 'run', {
    worker_id: 'w',
    lease_ms: 60_000,
    max_claims_without_progress: 5,
    max_context_bytes: 10_240,
    alone: true,
    strategies: ['react'],
  });
  expect(claim).toMatchObject({
    claimed: false,
    status: 'failed',
    reason: 'context_too_large',
    promoted: { run_id: 'next' },
  });
  expect(await run.row()).toMatchObject({ status: 'failed', error: { type: 'context_too_large' } });
  expect(await run.events()).toEqual(['request_failed', 'checkpoint']);
  expect(await rows(log.db, 'select from lanefold._entry where thread_id = $1', threadId)).toHaveLength(1);
  // under the limit it was written with, the next one has its context
  expect(await next.claim()).toMatchObject({ claimed: true });
});

test('text that the database compresses counts as it is', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  log.db.settings.maxContextBytes = undefined;
  await run.enqueue({ input: kib(100) });
  await refused(input(log.db, threadId, 'i', 'more', { max_context_bytes: 100 * 1_024 }), 'context_too_large');
  await run.claim();
  expect(await bytesOf(threadId)).toBeGreaterThan(100 * 1_024);
});

test('queued input is bounded in bytes, and what is refused is not queued', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  const send = (id: string, bytes: number, more = {}) => input(log.db, threadId, id, 'x'.repeat(bytes), more);
  await refused(send('a', 2 ** 23 + 1), 'input_too_large');
  expect(await send('b', 2 ** 22)).toMatchObject({ status: 'queued' });
  await refused(send('c', 2 ** 22 + 1), 'queue_full');
  await refused(send('d', 1_024, { max_context_bytes: 2 ** 22 }), 'context_too_large');
  expect(await run.claim()).toMatchObject({ claimed: true, context: [{}, { role: 'user' }] });
});

test('a run ends whose lane is too large to be restored, and says so', async () => {
  const threadId = await newThread(log);
  // an entry that says it has 200 MB stands for 50 messages of 4 MiB
  await log.threads.append(threadId, say('one'));
  await rows(
    log.db,
    `insert into lanefold._entry (thread_id, seq, at, kind, context_ref, role, payload, bytes)
     select thread_id, 1, at, kind, context_ref, role, payload, 200000000 from lanefold._entry where thread_id = $1`,
    threadId,
  );
  await rows(log.db, 'update lanefold.thread set rev = 2 where id = $1', threadId);
  const run = sqlRun(log.db, threadId, 'run');
  await value(log.db, 'select lanefold.enqueue_run($1, $2)', threadId, {
    run_id: 'run',
    request_id: 'run',
    request_hash: 'aa',
    agent: 'a',
    strategy: 'react',
    model: 'm',
    input: { content: 'go' },
    options: { on_failure: 'rewind' },
    max_context_bytes: 1_000_000_000,
  });
  await value(log.db, 'select lanefold.claim_run($1, $2, 1, $3)', threadId, 'run', {
    worker_id: 'w',
    lease_ms: 60_000,
    max_claims_without_progress: 5,
    max_context_bytes: 1_000_000_000,
    alone: true,
    strategies: ['react'],
  });
  expect(
    await run.finish({ status: 'failed', reason: 'error', error: { type: 'runtime', message: 'm' } }),
  ).toMatchObject({ finished: true, status: 'failed' });
  expect(await run.row()).toMatchObject({ status: 'failed', error: { type: 'runtime', skipped: ['restore'] } });
});
