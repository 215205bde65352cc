import { expect, test } from 'vitest';
import { eraseThread } from '../../src/database/store/log/erase-thread.ts';
import { readMonitor, setMonitor } from '../../src/features/monitors/store/monitors.ts';
import { planJudge, storeScore, type NewRunScore } from '../../src/features/monitors/store/run-scores.ts';
import { newThread, refused, rows, useLog } from '../db/helpers.ts';

const log = useLog();

const definition = {
  agents: [],
  sample: 1,
  scorers: ['short'],
  rubric: null,
  judge: null,
  queue_prefix: null,
  by: 'x',
};
const monitor = (name: string) => ({ tenant_id: 'default', name });
const score = (threadId: string, n: number, given: Partial<NewRunScore>): NewRunScore => ({
  thread_id: threadId,
  run_id: `run-${n}`,
  agent: 'a',
  agent_version: null,
  ended_at: new Date().toISOString(),
  status: 'done',
  score: 1,
  scores: [],
  ...given,
});

test('are low below the threshold, not at it: their mean is rounded', async () => {
  const threadId = await newThread(log);
  await setMonitor(log.db, 'default', 'mean', { ...definition, alert: { below: 0.9, of: 50 } });
  for (let n = 0; n < 50; n++) await storeScore(log.db, monitor('mean'), score(threadId, n, { score: 0.9 }));
  expect(await readMonitor(log.db, 'default', 'mean')).toMatchObject({ scored: 50, lowSince: null });
  for (let n = 50; n < 100; n++) await storeScore(log.db, monitor('mean'), score(threadId, n, { score: 0.89 }));
  const low = await readMonitor(log.db, 'default', 'mean');
  expect(low!.lowSince).not.toBeNull();
  // setting it to what it is, as a program does at each start, keeps the alert
  await setMonitor(log.db, 'default', 'mean', { ...definition, alert: { below: 0.9, of: 50 } });
  expect(await readMonitor(log.db, 'default', 'mean')).toEqual(low);
  await setMonitor(log.db, 'default', 'mean', { ...definition, alert: { below: 0.8, of: 50 } });
  expect(await readMonitor(log.db, 'default', 'mean')).toMatchObject({ scored: 0, lowSince: null });
});

test('of a thread that was erased meanwhile are not stored, and its judge is forgotten', async () => {
  const threadId = await newThread(log);
  await setMonitor(log.db, 'default', 'judged', { ...definition, alert: null });
  const judge = { thread_id: 'judge-of-erased', run_id: 'judge' };
  const due = () =>
    rows<{ due: boolean }>(
      log.db,
      'select erase_at is not null as due from lanefold._eval_thread where thread_id = $1',
      judge.thread_id,
    );
  await planJudge(log.db, monitor('judged'), { threadId: judge.thread_id, id: judge.run_id }, 600_000);
  expect(await due()).toEqual([{ due: true }]);
  await eraseThread(log.db, threadId);
  await storeScore(log.db, monitor('judged'), score(threadId, 0, { status: 'waiting', score: null, judge }));
  expect(await rows(log.db, 'select from lanefold._run_score where thread_id = $1', threadId)).toEqual([]);
  expect(await due()).toEqual([{ due: true }]);

  const other = await newThread(log);
  await storeScore(log.db, monitor('judged'), score(other, 0, { status: 'waiting', score: null, judge }));
  expect(await due()).toEqual([{ due: false }]);
  await storeScore(log.db, monitor('judged'), score(other, 0, { score: 0.5 }));
  expect(await due()).toEqual([{ due: true }]);
});

test('count once: what comes after the score of a run changes nothing', async () => {
  const threadId = await newThread(log);
  await setMonitor(log.db, 'default', 'once', { ...definition, alert: null });
  const stored = () =>
    rows(
      log.db,
      `select status, score, judge_run_id from lanefold._run_score where monitor = 'once' and thread_id = $1`,
      threadId,
    );
  const judge = { thread_id: 'judge-of-once', run_id: 'judge' };
  await storeScore(log.db, monitor('once'), score(threadId, 0, { score: 0.25 }));
  const late = [{ score: 0.75 }, { status: 'waiting', score: null, judge }] as const;
  for (const given of late) await storeScore(log.db, monitor('once'), score(threadId, 0, given));
  expect(await stored()).toEqual([{ status: 'done', score: 0.25, judge_run_id: null }]);
  expect(await readMonitor(log.db, 'default', 'once')).toMatchObject({ scored: 1 });
});

test('from before a change of the monitor never count for its alert again', async () => {
  const [before, erased, left] = [await newThread(log), await newThread(log), await newThread(log)];
  const alert = (below: number) => ({ ...definition, alert: { below, of: 2 } });
  await setMonitor(log.db, 'default', 'changed', alert(0.1));
  for (const n of [0, 1]) await storeScore(log.db, monitor('changed'), score(before, n, { score: 0.2 }));
  await setMonitor(log.db, 'default', 'changed', alert(0.7));
  await storeScore(log.db, monitor('changed'), score(erased, 2, { score: 0.9 }));
  await eraseThread(log.db, erased);
  await storeScore(log.db, monitor('changed'), score(left, 3, { score: 0.9 }));
  // of the last two scores that are there, one is from before
  expect(await readMonitor(log.db, 'default', 'changed')).toMatchObject({ scored: 2, lowSince: null });
});

test('belong to shared queues or to one private queue', async () => {
  await setMonitor(log.db, 'default', 'shared', { ...definition, alert: null });
  const taken = setMonitor(log.db, 'default', 'shared', { ...definition, alert: null, queue_prefix: 'script' });
  await refused(taken, 'invalid_input');
  expect(await readMonitor(log.db, 'default', 'shared')).toBeDefined();
});
