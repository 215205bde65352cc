import type { Run, RunHandle, WorkerOptions } from 'lanefold';
import { expect } from 'vitest';
import { eventsOf, expectSound, ledgerOf, type EventRow, type LedgerEntry } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { patient, startHarness, type FaultHarness, type WorkerProcess } from './harness.ts';
import { shapeAs } from './log-shape.ts';

/** How a run loses its worker. */
export interface Crash {
  /** The answer to each call. Default: `script`. */
  respond?: (call: ExternalCall) => Answer;
  /** The calls whose answers the worker does not live to see. */
  during?: (call: ExternalCall) => boolean;
  /** Instead, the point at which the run stops in its worker, such as `after record_tool_call 1`. */
  point?: string;
  /** Instead, the statement after which the worker kills itself, such as `suspend_run:1`. At most one run has it. */
  dieAfter?: string;
  /** Outcomes of tools that are stored before the worker is killed. */
  stored?: number;
  /** Also kills the worker that takes the run over. */
  twice?: true;
  /** Called while the worker lives. */
  before?: (run: RunHandle) => Promise<unknown>;
  /** Called after all crashes, before another worker starts. */
  meanwhile?: (run: RunHandle) => Promise<unknown>;
}

export interface CrashedRun extends RunHandle {
  ended: Run;
  ledger: LedgerEntry[];
  events: EventRow[];
  shape: unknown[];
  /** The calls that any worker made for it. */
  calls: ExternalCall[];
  /** Executions of `look`, `charge` and `send`. */
  toolExecutions: number[];
}

export interface CrashHarness extends FaultHarness {
  /** The log of a run without a crash. */
  undisturbed: unknown[];
  /**
   * Executes a run on each thread in one worker process that is killed when all of them are where they must crash, then
   * lets another worker finish them. Asserts that the logs are sound and that no call with a stored outcome was repeated.
   *
   * @param worker default: leases that expire only through `expireLease`
   */
  crash<Name extends string>(crashes: Record<Name, Crash>, worker?: WorkerOptions): Promise<Record<Name, CrashedRun>>;
}

/** A round of three tools, a round of one, then the answer. */
export const script = (call: ExternalCall): Answer => {
  if (call.kind === 'tool') return { result: `${call.name} done` };
  if (call.kind === 'verify') return null;
  const calls = ['look', 'charge', 'send'].map((name, i) => ({ id: `c${i}`, name }));
  return [{ text: 'First.', calls }, { calls: [{ id: 'c3', name: 'look' }] }, { text: 'All done.' }][call.turn]!;
};

export async function startCrashHarness(): Promise<CrashHarness> {
  const harness = await startHarness();
  const { callServer } = harness;
  const enqueue = (threadId: string) =>
    harness.runs.enqueue({ agent: 'fault', input: threadId, threadId, createThread: true });
  callServer.respond = script;
  const first = await harness.startWorker(patient);
  await harness.runs.wait(await enqueue('control'));
  await first.stop();
  const undisturbed = await shapeAs(harness, 'control');
  expect(undisturbed).toHaveLength(9);

  const storedOf = async (threadId: string) =>
    (await ledgerOf(harness, threadId)).filter((row) => row.status === 'ok').map((row) => row.idempotency_key);
  const callsOf = (threadId: string) => callServer.calls.filter((call) => call.threadId === threadId);

  /** Resolves when a run is where its worker must crash. */
  const readyToCrash = (threadId: string, crash: Crash, worker: WorkerProcess, name: string) =>
    until(`${threadId} is where its worker must crash`, async () => {
      if (crash.point) return worker.lines.some((line) => line.startsWith(`blocked ${threadId} `));
      if (!callsOf(threadId).some((call) => call.worker === name && crash.during!(call))) return false;
      return (await storedOf(threadId)).length >= (crash.stored ?? 0);
    });

  async function describeRun(run: RunHandle): Promise<CrashedRun> {
    const { threadId } = run;
    const calls = callsOf(threadId);
    return {
      ...run,
      ended: await harness.runs.wait(run),
      ledger: await ledgerOf(harness, threadId),
      events: await eventsOf(harness, threadId),
      shape: await shapeAs(harness, threadId),
      calls,
      toolExecutions: ['look', 'charge', 'send'].map(
        (name) => calls.filter((call) => call.kind === 'tool' && call.name === name).length,
      ),
    };
  }

  return {
    ...harness,
    undisturbed,
    async crash<Name extends string>(named: Record<Name, Crash>, worker: WorkerOptions = patient) {
      const crashes = Object.entries<Crash>(named);
      const killsItself = crashes.find(([, { dieAfter }]) => dieAfter);
      const othersReady = deferred();
      callServer.respond = async (call) => {
        const { respond = script, during, twice } = named[call.threadId as Name];
        if (call.worker === 'rescuer') return respond(call);
        if (during?.(call) && (call.worker === 'child' || twice)) return new Promise<never>(() => {});
        if (call.threadId === killsItself?.[0]) await othersReady.promise;
        return respond(call);
      };
      const points = crashes.flatMap(([threadId, { point }]) => (point ? [[threadId, point]] : []));
      const child = await harness.spawnWorker({
        worker: { ...worker, concurrency: 50 },
        crashPoints: Object.fromEntries(points) as Record<string, string>,
        ...(killsItself && { dieAfter: killsItself[1].dieAfter! }),
      });
      const runs = await Promise.all(
        crashes.map(async ([threadId, { before }]) => {
          const run = await enqueue(threadId);
          await before?.(run);
          return run;
        }),
      );
      const others = crashes.filter(([threadId]) => threadId !== killsItself?.[0]);
      await Promise.all(others.map(([threadId, crash]) => readyToCrash(threadId, crash, child, 'child')));
      othersReady.resolve();
      await (killsItself ? child.waitForExit() : child.kill());
      const expire = async (threadId: string) => void (worker === patient && (await harness.expireLease(threadId)));

      const again = crashes.filter(([, { twice }]) => twice);
      if (again.length > 0) {
        const second = await harness.spawnWorker({ name: 'second', worker });
        for (const [threadId] of again) await expire(threadId);
        await Promise.all(again.map(([threadId, crash]) => readyToCrash(threadId, crash, second, 'second')));
        await second.kill();
      }
      const stored = new Map<string, string[]>();
      for (const [threadId] of crashes) {
        await expire(threadId);
        stored.set(threadId, await storedOf(threadId));
      }
      for (const [i, [, { meanwhile }]] of crashes.entries()) await meanwhile?.(runs[i]!);

      const rescuer = await harness.startWorker(worker);
      for (const run of runs) await harness.runs.wait(run);
      await rescuer.stop();
      const described: Record<string, CrashedRun> = {};
      for (const run of runs) {
        const { threadId } = run;
        const repeated = callsOf(threadId).filter((call) => call.worker === 'rescuer');
        for (const key of stored.get(threadId)!) expect(repeated.map((call) => call.key)).not.toContain(key);
        await expectSound(harness, threadId);
        described[threadId] = await describeRun(run);
      }
      return described as Record<Name, CrashedRun>;
    },
  };
}
