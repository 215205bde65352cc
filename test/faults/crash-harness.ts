import type { Run, RunHandle, WorkerOptions } from 'lanefold';
import { expect } from 'vitest';
import { eventsOf, expectSound, ledgerOf, type EventRow, type LedgerEntry } from '../support/log.ts';
import type { Answer, Visit } from './fixtures/outside.ts';
import { patient, startBench, type Child, type FaultBench } from './harness.ts';
import { shapeOf } from './normalise.ts';

export interface CrashedRun extends RunHandle {
  ended: Run;
  ledger: LedgerEntry[];
  events: EventRow[];
  shape: unknown[];
}

export interface CrashBench extends FaultBench {
  /** What a run leaves in the log when nobody dies. */
  undisturbed: unknown[];
  /** A round of all three tools, then a round of one, then the answer. */
  script(visit: Visit): Answer;
  /**
   * Runs once in a child, which must die of it; when it is dead another worker ends the run. Checks what no crash may
   * break: a sound log, and no stored outcome run again.
   */
  crash(
    respond: (visit: Visit, run: { child: Child; threadId: string }) => Answer | Promise<Answer>,
    options?: {
      dieAfter?: string;
      others?: Child[];
      /** Done when all are dead, before another worker starts. */
      meanwhile?: (run: RunHandle) => Promise<unknown>;
      /** Leases that run out by themselves. */
      worker?: WorkerOptions;
    },
  ): Promise<CrashedRun>;
  /** Executions of `look`, `charge` and `send` since the last crash began. */
  toolVisits(): number[];
}

const script = (visit: Visit): Answer => {
  if (visit.kind === 'tool') return { result: `${visit.name} done` };
  if (visit.kind === 'verify') return null;
  const calls = ['look', 'charge', 'send'].map((name, i) => ({ id: `c${i}`, name }));
  return [{ text: 'First.', calls }, { calls: [{ id: 'c3', name: 'look' }] }, { text: 'All done.' }][visit.turn]!;
};

export async function startCrashBench(): Promise<CrashBench> {
  const bench = await startBench();
  const { outside } = bench;
  outside.respond = script;
  const first = await bench.startWorker(patient);
  const control = await bench.runs.enqueue({ agent: 'fault', input: 'go' });
  await bench.runs.wait(control);
  await first.stop();
  const undisturbed = await shapeOf(bench, control.threadId);
  expect(undisturbed).toHaveLength(9);
  let runs = 0;

  return {
    ...bench,
    undisturbed,
    script,
    toolVisits: () => ['look', 'charge', 'send'].map((name) => outside.count(`tool:${name}`)),
    async crash(respond, { dieAfter, others = [], meanwhile, worker = patient } = {}) {
      const child = await bench.child({ worker, ...(dieAfter ? { dieAfter } : {}) });
      const threadId = `crash-${(runs += 1)}`;
      outside.visits.length = 0;
      outside.respond = (visit) => respond(visit, { child, threadId });
      const run = await bench.runs.enqueue({ agent: 'fault', input: 'go', threadId, createThread: true });
      await Promise.all(
        [child, ...others].map(async (victim) => {
          await victim.died();
          if (worker === patient) await bench.runOut(threadId);
        }),
      );

      const stored = (await ledgerOf(bench, threadId)).filter((row) => row.status === 'ok');
      const before = outside.visits.length;
      await meanwhile?.(run);
      const rescuer = await bench.startWorker(worker);
      const ended = await bench.runs.wait(run, { timeoutMs: 30_000 });
      await rescuer.stop();
      await expectSound(bench, threadId);
      const again = outside.visits.slice(before).map((visit) => visit.key);
      for (const row of stored) expect(again).not.toContain(row.idempotency_key);
      return {
        ...run,
        ended,
        ledger: await ledgerOf(bench, threadId),
        events: await eventsOf(bench, threadId),
        shape: await shapeOf(bench, threadId),
      };
    },
  };
}
