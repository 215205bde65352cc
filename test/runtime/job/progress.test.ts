import pLimit from 'p-limit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { JobProgress, writesAtOnce, type ProgressJob, type ShownProgress } from '../../../src/runtime/job/progress.ts';
import { deferred } from '../../support/until.ts';

const at = (iteration: number, phase = 'llm'): ShownProgress => ({ iteration, max_iterations: 9, tokens: 0, phase });

/** A job that records each write and completes it only when the test calls `answer`. */
function slowJob() {
  const writes: unknown[] = [];
  const waiting: (() => void)[] = [];
  let peak = 0;
  const record = (what: unknown) => {
    writes.push(what);
    const answer = deferred();
    waiting.push(answer.resolve);
    peak = Math.max(peak, waiting.length);
    return answer.promise;
  };
  const job: ProgressJob = {
    updateProgress: (p) => record((p as ShownProgress).iteration),
    log: (lines) => record(lines.replaceAll(/^\+\S+ s {2}/gm, '')),
  };
  return {
    job,
    writes,
    peak: () => peak,
    async answer() {
      waiting.shift()!();
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

describe('job progress', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => vi.useRealTimers());

  test('is never written for a short run', async () => {
    const { job, writes } = slowJob();
    const progress = new JobProgress(job, at(1), 'begins');
    await vi.advanceTimersByTimeAsync(200);
    progress.note(at(2), ['on']);
    expect(progress.unwritten()).toEqual({
      log: [expect.stringMatching(/begins$/), expect.stringMatching(/on$/)],
      progress: at(2),
    });
    await progress.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(writes).toEqual([]);
  });

  test('is batched and written one update at a time: the latest numbers, and every line in order', async () => {
    const slow = slowJob();
    const progress = new JobProgress(slow.job, at(1), 'a');
    await vi.advanceTimersByTimeAsync(240);
    progress.note(at(2), ['b', 'c']);
    await vi.advanceTimersByTimeAsync(10);
    expect(slow.writes).toEqual([2]);
    progress.note(at(3), ['d']);
    await slow.answer();
    expect(slow.writes).toEqual([2, 'a\nb\nc\nd']);
    await vi.advanceTimersByTimeAsync(1_000);
    await slow.answer();
    await vi.advanceTimersByTimeAsync(249);
    expect(slow.writes).toEqual([2, 'a\nb\nc\nd']);
    await vi.advanceTimersByTimeAsync(1);
    await slow.answer();
    expect(slow.writes).toEqual([2, 'a\nb\nc\nd', 3]);
    progress.note(at(3), ['e']);
    await vi.advanceTimersByTimeAsync(250);
    await slow.answer();
    expect(slow.writes).toEqual([2, 'a\nb\nc\nd', 3, 3, 'e']);
    expect(slow.peak()).toBe(1);
  });

  test('is flushed when the job ends, but a slow queue does not hold up the job', async () => {
    const slow = slowJob();
    const progress = new JobProgress(slow.job, at(1), 'a');
    await vi.advanceTimersByTimeAsync(300);
    progress.note(at(2, 'completed'), ['z']);
    let closed = false;
    const closing = progress.close().then(() => (closed = true));
    for (let i = 0; i < 2; i++) await slow.answer();
    expect([slow.writes, closed]).toEqual([[1, 'a\nz', 2], false]);
    await vi.advanceTimersByTimeAsync(500);
    await closing;
    await slow.answer();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(slow.writes).toEqual([1, 'a\nz', 2]);
  });

  test('of a run that ends before its turn is left to the result of the job', async () => {
    const slow = slowJob();
    const inTurn = pLimit(1);
    const [first, second] = [1, 2].map((n) => new JobProgress(slow.job, at(n), `begins ${n}`, inTurn));
    await vi.advanceTimersByTimeAsync(300);
    second!.note(at(3, 'completed'), ['ends 2']);
    expect(second!.unwritten()).toMatchObject({ progress: at(3, 'completed') });
    expect(first!.unwritten()).toBeUndefined();
    await second!.close();
    for (let left = 2; left > 0; left--) await slow.answer();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(slow.writes).toEqual([1, 'begins 1']);
  });

  test('does not wait for other jobs when its own job ends', async () => {
    const slow = slowJob();
    const inTurn = pLimit(1);
    const ending = new JobProgress(slow.job, at(1), 'a', inTurn);
    await vi.advanceTimersByTimeAsync(250);
    for (let left = 2; left > 0; left--) await slow.answer();
    const other = new JobProgress(slow.job, at(7), 'other', inTurn);
    await vi.advanceTimersByTimeAsync(250);
    ending.note(at(2), ['z']);
    // its own turn would come after the other job's
    await vi.advanceTimersByTimeAsync(250);
    const closing = ending.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(slow.writes).toEqual([1, 'a', 7, 2]);
    for (let left = 4; left > 0; left--) await slow.answer();
    await closing;
    expect(slow.writes.toSorted()).toEqual([1, 2, 7, 'a', 'other', 'z']);
    expect(slow.peak()).toBe(2);
    other.drop();
  });

  test('survives a failing queue, and drops the oldest lines to bound memory', async () => {
    const writes: string[] = [];
    const failing: ProgressJob = {
      updateProgress: () => Promise.reject(new Error('gone')),
      log: (lines) => {
        writes.push(...lines.split('\n').map((line) => line.split('  ').at(-1)!));
        return Promise.reject(new Error('gone'));
      },
    };
    const progress = new JobProgress(failing, at(1), 'first');
    for (let i = 0; i < 1_000; i++) progress.note(at(i), [`line ${i}`]);
    await vi.advanceTimersByTimeAsync(250);
    await progress.close();
    expect(writes[0]).toBe('… 801 lines dropped');
    expect(writes.slice(1)).toEqual(Array.from({ length: 200 }, (_, i) => `line ${i + 800}`));
  });

  test('is written for two jobs of a process at a time: their queue needs connections for jobs and locks', async () => {
    const slow = slowJob();
    const inTurn = pLimit(writesAtOnce);
    for (const n of [1, 2, 3]) new JobProgress(slow.job, at(n), `begins ${n}`, inTurn);
    await vi.advanceTimersByTimeAsync(300);
    expect(slow.writes).toEqual([1, 2]);
    for (let left = 6; left > 0; left--) await slow.answer();
    expect(slow.writes).toEqual([1, 2, 'begins 1', 'begins 2', 3, 'begins 3']);
    expect(slow.peak()).toBe(2);
  });
});
