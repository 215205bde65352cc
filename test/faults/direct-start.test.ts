import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { eventsOf, expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { quick, startHarness, type FaultHarness } from './harness.ts';

describe.skipIf(noRedis())('a process that crashes with a run that it accepted and started at once', () => {
  let harness: FaultHarness;
  beforeAll(async () => void (harness = await startHarness()));
  afterAll(() => harness?.close());

  test('leaves it to another worker, which ends it once', async () => {
    const asked: string[] = [];
    harness.callServer.respond = ({ worker, threadId }) => {
      asked.push(`${worker} ${threadId}`);
      return worker === 'child' ? new Promise<never>(() => {}) : { text: 'Done.' };
    };
    const child = await harness.spawnWorker({ worker: quick, enqueues: 'own' });
    const started = await until('the child starts a run at once', () =>
      child.lines.find((line) => line.startsWith('running ')),
    );
    const threadId = started.slice('running '.length);
    await until('its model is called', () => asked.some((one) => one.startsWith('child')));
    await child.kill();
    await harness.startWorker(quick);
    const [run] = (await harness.runs.list({ threadId })).data;
    const ended = await harness.runs.wait({ threadId, id: run!.id }, { timeoutMs: 60_000 });
    expect(ended).toMatchObject({ status: 'completed', result: 'Done.' });
    const kinds = (await eventsOf(harness, threadId)).map((event) => event.kind);
    expect(kinds.filter((kind) => kind === 'request_started')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'worker_lost')).toHaveLength(1);
    await expectSound(harness, threadId);
  });
});
