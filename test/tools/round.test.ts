import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { runToolRound } from '../../src/agent/tools/toolset.ts';
import { executeToolCall } from '../../src/agent/tools/execute.ts';
import type { ToolOutcome } from '../../src/agent/tools/outcome.ts';
import { cases } from '../support/cases.ts';
import { base, call, deferred, ok, toolOf } from './helpers.ts';

const calls = (n: number) => Array.from({ length: n }, (_, i) => call({}, 'probe', `call_${i}`));
const tick = () => new Promise((done) => setImmediate(done));
const quiet = async () => {};

describe('runToolRound', () => {
  test('returns call order for any order of outcomes, starts in call order, at most `concurrency` at once', async () => {
    const rounds = fc.integer({ min: 0, max: 12 }).chain((n) =>
      fc.record({
        n: fc.constant(n),
        concurrency: fc.integer({ min: 1, max: 6 }),
        picks: fc.infiniteStream(fc.nat()),
      }),
    );
    await fc.assert(
      fc.asyncProperty(rounds, async ({ n, concurrency, picks }) => {
        const open = new Map<number, (outcome: ToolOutcome) => void>();
        const started: number[] = [];
        const finished: number[] = [];
        const reported: number[] = [];
        const done = runToolRound(
          calls(n),
          (_, index) => {
            started.push(index);
            const { promise, resolve } = deferred<ToolOutcome>();
            open.set(index, resolve);
            return promise;
          },
          { concurrency, onOutcome: async (index) => void reported.push(index) },
        );
        while (finished.length < n) {
          await tick();
          expect(open.size).toBe(Math.min(concurrency, n - finished.length));
          const running = [...open.keys()];
          const index = running[picks.next().value % running.length]!;
          open.get(index)!(ok(`${index}`));
          open.delete(index);
          finished.push(index);
        }
        expect((await done).map((outcome) => outcome.content)).toEqual(calls(n).map((_, i) => `${i}`));
        expect(started).toEqual(calls(n).map((_, i) => i));
        expect(reported).toEqual(finished);
      }),
      { numRuns: cases(30) },
    );
  });

  test('runs four at once by default and reports an outcome while siblings run', async () => {
    const pending = Array.from({ length: 6 }, () => deferred<ToolOutcome>());
    const onOutcome = vi.fn(quiet);
    const done = runToolRound(calls(6), (_, i) => pending[i]!.promise, { onOutcome });
    pending[2]!.resolve(ok('fast'));
    await tick();
    expect(onOutcome).toHaveBeenCalledExactlyOnceWith(2, ok('fast'));
    pending.forEach((p) => p.resolve(ok('x')));
    expect(await done).toHaveLength(6);
  });

  test.each(['run', 'onOutcome'])('a rejection of %s aborts the others and starts no further call', async (where) => {
    const lost = new Error('lease lost');
    const started: number[] = [];
    const signals: AbortSignal[] = [];
    const report = vi.fn(() => (where === 'onOutcome' ? Promise.reject(lost) : Promise.resolve()));
    const hanging = deferred<ToolOutcome>();
    const done = runToolRound(
      calls(5),
      async (_, index, signal) => {
        started.push(index);
        signals.push(signal);
        if (index === 0) return hanging.promise;
        if (where === 'run') throw lost;
        return ok('x');
      },
      { concurrency: 2, onOutcome: report },
    );
    await expect(done).rejects.toBe(lost);
    hanging.resolve(ok('late'));
    await tick();
    expect(started).toEqual([0, 1]);
    expect(signals.every((s) => s.reason === lost)).toBe(true);
    expect(report).toHaveBeenCalledTimes(where === 'run' ? 0 : 1);
  });

  test('an outer abort ends it, also when a call ignores its signal', async () => {
    const outer = new AbortController();
    const reason = new Error('cancelled');
    let own: AbortSignal | undefined;
    const run = (_: unknown, _index: number, signal: AbortSignal) => ((own = signal), new Promise<never>(() => {}));
    const done = runToolRound(calls(2), run, { onOutcome: quiet, signal: outer.signal });
    await tick();
    outer.abort(reason);
    await expect(done).rejects.toBe(reason);
    expect(own?.reason).toBe(reason);
    await expect(runToolRound(calls(1), run, { onOutcome: quiet, signal: outer.signal })).rejects.toBe(reason);
  });

  test('many calls at once listen to one signal without a leak warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const tool = toolOf(() => tick());
    const outer = new AbortController();
    for (const own of [undefined, outer.signal])
      await runToolRound(calls(30), (each, _, signal) => executeToolCall(tool, each, base, own ? { signal } : {}), {
        concurrency: 30,
        onOutcome: quiet,
        signal: outer.signal,
      });
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test('a concurrency below 1 is an error, not an empty round', async () => {
    await expect(runToolRound(calls(1), async () => ok(''), { concurrency: 0, onOutcome: quiet })).rejects.toThrow();
  });
});
