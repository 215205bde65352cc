import type { RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { startCrashBench, type CrashBench } from './crash-bench.ts';
import type { Answer, Visit } from './fixtures/outside.ts';

describe.skipIf(noRedis())('a worker that dies around an approval', () => {
  let bench: CrashBench;
  beforeAll(async () => {
    bench = await startCrashBench();
  });
  afterAll(() => bench?.close());

  const script = (visit: Visit): Answer => {
    if (visit.kind === 'tool') return { result: `${visit.name} done` };
    const calls = ['look', 'sign'].map((name, i) => ({ id: `c${i}`, name }));
    return visit.turn === 0 ? { calls } : { text: 'Signed.' };
  };
  const approve = async (run: RunHandle) => {
    await until('it waits', async () => (await bench.runs.get(run)).status === 'suspended');
    await bench.runs.approve(run, { round: 1, index: 1 });
  };

  test('right after it has suspended the run: the decision is enough to go on', async () => {
    const run = await bench.crash(script, { dieAfter: 'suspend_run:1', meanwhile: approve });
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Signed.' });
    expect(run.ledger.map((row) => row.status)).toEqual(['ok', 'ok']);
    expect(['look', 'sign'].map((name) => bench.outside.count(`tool:${name}`))).toEqual([1, 1]);
  });

  test('before that: the next worker asks, and runs nothing again', async () => {
    let approved: Promise<void> | undefined;
    const run = await bench.crash(script, {
      dieAfter: 'record_tool_call:1',
      meanwhile: async (handle) => void (approved = approve(handle)),
    });
    await approved;
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Signed.' });
    expect(run.events.filter((event) => event.kind === 'approval_requested')).toHaveLength(1);
    expect(['look', 'sign'].map((name) => bench.outside.count(`tool:${name}`))).toEqual([1, 1]);
  });

  test('in the approved tool: it is not asked for again, nor run again', async () => {
    let approved: Promise<void> | undefined;
    const run = await bench.crash((visit, { child, threadId }) => {
      if (visit.kind === 'model' && visit.turn === 0) {
        approved ??= until('it is accepted', async () => (await bench.runs.list(threadId))[0]).then((found) =>
          approve(found as never),
        );
      }
      if (visit.name !== 'sign') return script(visit);
      return child.kill().then(() => new Promise<never>(() => {}));
    });
    await approved;
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Signed.' });
    expect(run.ledger.map((row) => row.status)).toEqual(['ok', 'unknown']);
    expect(run.events.filter((event) => event.kind === 'approval_requested')).toHaveLength(1);
    expect(bench.outside.count('tool:sign')).toBe(1);
  });
});
