import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunHandle } from 'lanefold';
import { noRedis } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { quick, startHarness, type FaultHarness } from './harness.ts';

describe.skipIf(noRedis())('a worker that does not know the agent of a run', () => {
  let harness: FaultHarness;
  beforeEach(async () => {
    harness = await startHarness();
    harness.callServer.respond = () => ({ text: 'Done.' });
  });
  afterEach(() => harness?.close());

  const taken = (run: RunHandle) =>
    until('the worker has taken the job', async () => {
      const job = await harness.queues[0]!.getJob(`${run.id}.1`);
      return job && job.attemptsStarted > 0;
    });

  test('leaves it to one that does, also with a clock that is an hour ahead', async () => {
    await harness.spawnWorker({ worker: quick, ignorant: true, clockAheadMs: 3_600_000 });
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'go' });
    await taken(run);
    await harness.startWorker(quick);
    expect(await harness.runs.wait(run, { timeoutMs: 20_000 })).toMatchObject({ status: 'completed', result: 'Done.' });
    await expectSound(harness, run.threadId);
  });

  test('fails it once nobody has known the agent for a minute', async () => {
    await harness.spawnWorker({ worker: quick, ignorant: true });
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'go' });
    const { rows } = await until('the worker has passed the run on', async () => {
      const found = await harness.database.pool.query(
        "update lanefold._run set agent_unknown_since = agent_unknown_since - interval '1 minute' where thread_id = $1 and agent_unknown_since is not null returning status",
        [run.threadId],
      );
      return found.rowCount ? found : undefined;
    });
    expect(rows).toEqual([{ status: 'queued' }]);
    expect(await harness.runs.wait(run, { timeoutMs: 20_000 })).toMatchObject({
      status: 'failed',
      error: { type: 'unknown_agent' },
    });
    await expectSound(harness, run.threadId);
  });
});
