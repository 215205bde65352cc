import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { inject } from 'vitest';
import type { LanefoldOptions, WorkerOptions } from 'lanefold';
import { defineStrategy } from 'lanefold/strategy';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { faultAgent } from './fixtures/agent.ts';
import { startCallServer, type CallServer } from './fixtures/call-server.ts';
import { treeAgent } from './fixtures/tree-agent.ts';
import type { WorkerProcessOptions } from './fixtures/worker.ts';

/** Leases that expire within a test. */
export const quick: WorkerOptions = { leaseMs: 2_000, sweepMs: 150 };

/** Leases that do not expire even on a busy machine; `expireLease` ends that of a killed worker. */
export const patient: WorkerOptions = { leaseMs: 120_000, sweepMs: 100 };

/** A strategy that repeats the first answer: for workers that may not know it. */
export const parrot = defineStrategy({
  name: 'parrot',
  begin: (prompt) => ({ memory: null, questions: [{ purpose: 'repeat', prompt }] }),
  learn: (memory, [answer]) => ({ memory, end: { reason: 'success', answer: answer!.text, result: answer!.text } }),
  best: (_, { reason }) => ({ reason, answer: null, result: null }),
});

export interface WorkerProcess {
  readonly process: ChildProcess;
  /** Lines printed so far. */
  readonly lines: string[];
  readonly exited: boolean;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
  waitForExit(): Promise<void>;
}

export interface FaultHarness extends TestLanefold {
  callServer: CallServer;
  /** Starts a worker process and waits until it is ready. */
  spawnWorker(
    options?: Partial<
      Pick<
        WorkerProcessOptions,
        | 'lanefold'
        | 'worker'
        | 'dieAfter'
        | 'dieBefore'
        | 'stopBefore'
        | 'crashPoints'
        | 'name'
        | 'ignorant'
        | 'knowsOnly'
        | 'clockAheadMs'
        | 'enqueues'
        | 'branches'
      >
    >,
  ): Promise<WorkerProcess>;
  /** Expires the lease of the thread's run, so that the next sweep recovers it. */
  expireLease(threadId: string): Promise<void>;
  /** Has the next sweep replace the jobs that a killed worker took but did not claim: their locks last as long as a lease. */
  replaceJobs(): Promise<void>;
  /** Resolves once the server executes nothing for Lanefold: PostgreSQL completes what a killed process has sent. */
  quiet(): Promise<unknown>;
}

/**
 * Starts a Lanefold on its own database and a call server; `close` also kills the worker processes. With `trees`, all of
 * them know the agents `tree` and `heir` instead of `fault`.
 */
export async function startHarness(options: LanefoldOptions = {}, { trees = false } = {}): Promise<FaultHarness> {
  const callServer = await startCallServer();
  const lanefold = await startLanefold({
    ...options,
    ...(trees ? treeAgent() : faultAgent(callServer.url, 'rescuer')),
  });
  const { databaseUrl, redisUrl, queuePrefix, largeContentBytes } = lanefold.options;
  const children: WorkerProcess[] = [];
  const quiet = () =>
    until('no statement is under way', async () => {
      const { rowCount } = await lanefold.database.pool.query(
        `select from pg_stat_activity where datname = current_database() and application_name like 'lanefold%'
           and state <> 'idle' and query not like '%pg_stat_activity%'`,
      );
      return rowCount === 0;
    });
  return {
    ...lanefold,
    callServer,
    quiet,
    async spawnWorker(options = {}) {
      const child = spawnProcess({
        lanefold: { databaseUrl, redisUrl, queuePrefix, largeContentBytes } as WorkerProcessOptions['lanefold'],
        worker: patient,
        name: 'child',
        callServerUrl: callServer.url,
        ...(trees ? { trees } : {}),
        ...options,
      });
      children.push(child);
      await until('the worker process is ready', () => child.lines.includes('ready') || child.exited);
      return child;
    },
    async expireLease(threadId) {
      // a statement of a killed process may renew the lease
      await quiet();
      await lanefold.database.pool.query(
        // Renewed a moment ago: nothing else has happened since. Enqueued in the future, as after the clock went back: a
        // running worker would find a run enqueued long ago only with its next look at all runs, up to 15 s later.
        `update lanefold._run set lease_until = now() - interval '1 ms', lease_ms = 1,
           enqueued_at = now() + interval '1 hour' where thread_id = $1 and status = 'running'`,
        [threadId],
      );
    },
    async replaceJobs() {
      await lanefold.database.pool.query(
        `update lanefold._run set enqueue_no = enqueue_no + 1, enqueued_at = now() - interval '1 hour'
         where status = 'queued'`,
      );
    },
    async close() {
      await Promise.all(children.map((child) => child.kill()));
      await callServer.close();
      await lanefold.close();
    },
  };
}

function spawnProcess(options: WorkerProcessOptions): WorkerProcess {
  const script = path.join(inject('packageDir'), 'dist/test/faults/fixtures/worker.js');
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, WORKER: JSON.stringify(options) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines: string[] = [];
  child.stdout!.on('data', (text: Buffer) => lines.push(...text.toString().split('\n').filter(Boolean)));
  return {
    process: child,
    lines,
    get exited() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    waitForExit: () => gone,
  };
}
