import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { entriesOf } from '../support/log.ts';
import { startCrashBench, type CrashBench } from './crash-bench.ts';
import type { Answer, Visit } from './fixtures/outside.ts';

describe.skipIf(noRedis())('a worker that dies between an outcome and its round', () => {
  let bench: CrashBench;
  beforeAll(async () => {
    bench = await startCrashBench();
  });
  afterAll(() => bench?.close());

  const script = (visit: Visit): Answer => {
    const index = visit.key.split(':').at(-1)!;
    if (visit.kind === 'tool')
      return { result: index, effects: [{ op: 'set', value: { last: index, [`n${index}`]: true } }] };
    const calls = [0, 1, 2].map((i) => ({ id: `c${i}`, name: 'look' }));
    return visit.turn === 0 ? { calls } : { text: 'Done.' };
  };

  test.each([1, 2])('with %i outcomes stored: their effects happen once, in call order', async (stored) => {
    const run = await bench.crash(script, { dieAfter: `record_tool_call:${stored}` });
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Done.' });
    const changes = (await entriesOf(bench, run.threadId)).filter((entry) => entry.kind === 'ai_state_change');
    const operations = [0, 1, 2].map((i) => ({ op: 'set', value: { last: `${i}`, [`n${i}`]: true }, call_index: i }));
    expect(changes.map((entry) => entry.payload)).toEqual([{ operations }]);
    expect((await bench.threads.get(run.threadId)).state).toEqual({ last: '2', n0: true, n1: true, n2: true });
  });
});
