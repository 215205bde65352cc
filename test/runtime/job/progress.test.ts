import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { JobProgress, type Progress, type ProgressJob } from '../../../src/runtime/job/progress.ts';
import { deferred } from '../../support/until.ts';

const at = (iteration: number, phase = 'llm'): Progress => ({ iteration, max_iterations: 9, tokens: 0, phase });

/** A job that remembers what it was told, and answers when it is let. */
function slowJob() {
  const told: unknown[] = [];
  const waiting: (() => void)[] = [];
  let most = 0;
  const take = (what: unknown) => {
    told.push(what);
    const answer = deferred();
    waiting.push(answer.resolve);
    most = Math.max(most, waiting.length);
    return answer.promise;
  };
  const job: ProgressJob = {
    updateProgress: (p) => take((p as Progress).iteration),
    log: (lines) => take(lines.replaceAll(/^\+\S+ s {2}/gm, '')),
  };
  return {
    job,
    told,
    most: () => most,
    async answer() {
      waiting.shift()!();
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

describe('the progress of a job', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => vi.useRealTimers());

  test('of a short run is never written', async () => {
    const { job, told } = slowJob();
    const progress = new JobProgress(job, at(1), 'begins');
    await vi.advanceTimersByTimeAsync(200);
    progress.note(at(2), ['on']);
    await progress.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told).toEqual([]);
  });

  test('gathers a while, and is written one at a time: the latest numbers, and every line in order', async () => {
    const slow = slowJob();
    const progress = new JobProgress(slow.job, at(1), 'a');
    await vi.advanceTimersByTimeAsync(240);
    progress.note(at(2), ['b', 'c']);
    await vi.advanceTimersByTimeAsync(10);
    expect(slow.told).toEqual([2]);
    progress.note(at(3), ['d']);
    await slow.answer();
    expect(slow.told).toEqual([2, 'a\nb\nc\nd']);
    await vi.advanceTimersByTimeAsync(1_000);
    await slow.answer();
    await vi.advanceTimersByTimeAsync(249);
    expect(slow.told).toEqual([2, 'a\nb\nc\nd']);
    await vi.advanceTimersByTimeAsync(1);
    await slow.answer();
    expect(slow.told).toEqual([2, 'a\nb\nc\nd', 3]);
    progress.note(at(3), ['e']);
    await vi.advanceTimersByTimeAsync(250);
    await slow.answer();
    expect(slow.told).toEqual([2, 'a\nb\nc\nd', 3, 3, 'e']);
    expect(slow.most()).toBe(1);
  });

  test('is written to its end before the job ends, but does not hold it up', async () => {
    const slow = slowJob();
    const progress = new JobProgress(slow.job, at(1), 'a');
    await vi.advanceTimersByTimeAsync(300);
    progress.note(at(2, 'completed'), ['z']);
    let closed = false;
    const closing = progress.close().then(() => (closed = true));
    for (let i = 0; i < 2; i++) await slow.answer();
    expect([slow.told, closed]).toEqual([[1, 'a\nz', 2], false]);
    await vi.advanceTimersByTimeAsync(500);
    await closing;
    await slow.answer();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(slow.told).toEqual([1, 'a\nz', 2]);
  });

  test('survives a queue that fails, and loses old lines rather than memory', async () => {
    const told: string[] = [];
    const failing: ProgressJob = {
      updateProgress: () => Promise.reject(new Error('gone')),
      log: (lines) => {
        told.push(...lines.split('\n').map((line) => line.split('  ').at(-1)!));
        return Promise.reject(new Error('gone'));
      },
    };
    const progress = new JobProgress(failing, at(1), 'first');
    for (let i = 0; i < 1_000; i++) progress.note(at(i), [`line ${i}`]);
    await vi.advanceTimersByTimeAsync(250);
    await progress.close();
    expect(told[0]).toBe('… 801 lines dropped');
    expect(told.slice(1)).toEqual(Array.from({ length: 200 }, (_, i) => `line ${i + 800}`));
  });
});
