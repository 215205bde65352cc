import type { Run, RunHandle, WorkerOptions } from 'lanefold';
import { expect } from 'vitest';
import { eventsOf, expectSound, ledgerOf, type EventRow, type LedgerEntry } from '../support/log.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { patient, startHarness, type WorkerProcess, type FaultHarness } from './harness.ts';
import { shapeOf } from './log-shape.ts';

export interface CrashedRun extends RunHandle {
  ended: Run;
  ledger: LedgerEntry[];
  events: EventRow[];
  shape: unknown[];
}

export interface CrashHarness extends FaultHarness {
  /** The log of a run without a crash. */
  undisturbed: unknown[];
  /** The default script: a round of three tools, a round of one, then the answer. */
  script(call: ExternalCall): Answer;
  /**
   * Executes a run in a worker process that must crash, then lets another worker finish it. Asserts that the log is
   * sound and that no call with a stored outcome was repeated.
   */
  crash(
    respond: (call: ExternalCall, run: { child: WorkerProcess; threadId: string }) => Answer | Promise<Answer>,
    options?: {
      dieAfter?: string;
      others?: WorkerProcess[];
      /** Called after all crashes, before another worker starts. */
      meanwhile?: (run: RunHandle) => Promise<unknown>;
      /** Default: leases that expire only through `expireLease`. */
      worker?: WorkerOptions;
    },
  ): Promise<CrashedRun>;
  /** Executions of `look`, `charge` and `send` in the current `crash`. */
  toolExecutions(): number[];
}

const script = (call: ExternalCall): Answer => {
  if (call.kind === 'tool') return { result: `${call.name} done` };
  if (call.kind === 'verify') return null;
  const calls = ['look', 'charge', 'send'].map((name, i) => ({ id: `c${i}`, name }));
  return [{ text: 'First.', calls }, { calls: [{ id: 'c3', name: 'look' }] }, { text: 'All done.' }][call.turn]!;
};

export async function startCrashHarness(): Promise<CrashHarness> {
  const harness = await startHarness();
  const { callServer } = harness;
  callServer.respond = script;
  const first = await harness.startWorker(patient);
  const control = await harness.runs.enqueue({ agent: 'fault', input: 'go' });
  await harness.runs.wait(control);
  await first.stop();
  const undisturbed = await shapeOf(harness, control.threadId);
  expect(undisturbed).toHaveLength(9);
  let runs = 0;

  return {
    ...harness,
    undisturbed,
    script,
    toolExecutions: () => ['look', 'charge', 'send'].map((name) => callServer.count(`tool:${name}`)),
    async crash(respond, { dieAfter, others = [], meanwhile, worker = patient } = {}) {
      const child = await harness.spawnWorker({ worker, ...(dieAfter ? { dieAfter } : {}) });
      const threadId = `crash-${(runs += 1)}`;
      callServer.calls.length = 0;
      callServer.respond = (call) => respond(call, { child, threadId });
      const run = await harness.runs.enqueue({ agent: 'fault', input: 'go', threadId, createThread: true });
      await Promise.all(
        [child, ...others].map(async (target) => {
          await target.waitForExit();
          if (worker === patient) await harness.expireLease(threadId);
        }),
      );

      const stored = (await ledgerOf(harness, threadId)).filter((row) => row.status === 'ok');
      const before = callServer.calls.length;
      await meanwhile?.(run);
      const rescuer = await harness.startWorker(worker);
      const ended = await harness.runs.wait(run);
      await rescuer.stop();
      await expectSound(harness, threadId);
      const repeated = callServer.calls.slice(before).map((call) => call.key);
      for (const row of stored) expect(repeated).not.toContain(row.idempotency_key);
      return {
        ...run,
        ended,
        ledger: await ledgerOf(harness, threadId),
        events: await eventsOf(harness, threadId),
        shape: await shapeOf(harness, threadId),
      };
    },
  };
}
