// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { citusLacks } from '../support/citus-lacks.ts';

import { eventsOf, expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { quick, startHarness, type FaultHarness } from './harness.ts';

/** What a child has printed about its run on a thread: `queued` or `running`. */
const saidOf = (lines: readonly string[], threadId: string): string | undefined =>
  lines.find((line) => line.endsWith(` ${threadId}`))?.split(' ')[0];

describe.skipIf(citusLacks.directStarts)(
  'a process that crashes with a run that it accepted and started at once',
  () => {
    let harness: FaultHarness;
    beforeAll(async () => void (harness = await startHarness()));
    afterAll(() => harness?.close());

    test('leaves it to another worker, which ends it once', async () => {
      let lines: readonly string[] = [];
      let asked = false;
      harness.callServer.respond = async ({ worker, threadId }) => {
        const how = worker === 'child' && (await until('the child says how', () => saidOf(lines, threadId!)));
        if (how !== 'running') return { text: 'Done.' };
        asked = true;
        return new Promise<never>(() => {});
      };
      const child = await harness.spawnWorker({ worker: quick, enqueues: 'own' });
      ({ lines } = child);
      await until('the child starts a run at once and calls its model', () => asked);
      const threadId = lines.find((line) => line.startsWith('running '))!.slice('running '.length);
      await child.kill();
      await harness.startWorker(quick);
      const [run] = (await harness.runs.list({ threadId })).data;
      const ended = await harness.runs.wait({ threadId, id: run!.id });
      expect(ended).toMatchObject({ status: 'completed', result: 'Done.' });
      const kinds = (await eventsOf(harness, threadId)).map((event) => event.kind);
      expect(kinds.filter((kind) => kind === 'request_started')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'worker_lost')).toHaveLength(1);
      await expectSound(harness, threadId);
    });
  },
);
