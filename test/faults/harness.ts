import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { inject } from 'vitest';
import type { LanefoldOptions, WorkerOptions } from 'lanefold';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { faultAgent } from './fixtures/agent.ts';
import { startOutside, type Outside } from './fixtures/outside.ts';
import type { ChildOptions } from './fixtures/worker.ts';

/** Leases that really run out within a test. */
export const quick: WorkerOptions = { leaseMs: 1_000, sweepMs: 150 };

/** Leases that no busy machine can lose; where a worker dies, `runOut` lets its lease be past. */
export const patient: WorkerOptions = { leaseMs: 120_000, sweepMs: 100 };

export interface Child {
  readonly process: ChildProcess;
  /** Lines it has printed. */
  readonly lines: string[];
  readonly dead: boolean;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** Waits until it is gone by itself. */
  died(): Promise<void>;
}

export interface FaultBench extends TestLanefold {
  outside: Outside;
  /** A worker in its own process, ready for work. */
  child(
    options?: Partial<Pick<ChildOptions, 'lanefold' | 'worker' | 'dieAfter' | 'dieBefore' | 'parkAt' | 'name'>>,
  ): Promise<Child>;
  /** Makes it so late that the lease of the thread's run is past, and the next sweep will look at it. */
  runOut(threadId: string): Promise<void>;
}

/** A Lanefold on its own database, the world outside, and worker processes that end with it. */
export async function startBench(options: LanefoldOptions = {}): Promise<FaultBench> {
  const outside = await startOutside();
  const lanefold = await startLanefold({ ...options, ...faultAgent(outside.url, 'rescuer') });
  const { databaseUrl, redisUrl, queuePrefix } = lanefold.options;
  const children: Child[] = [];
  return {
    ...lanefold,
    outside,
    async child(options = {}) {
      const child = spawnChild({
        lanefold: { databaseUrl, redisUrl, queuePrefix } as ChildOptions['lanefold'],
        worker: patient,
        name: 'child',
        outside: outside.url,
        ...options,
      });
      children.push(child);
      await until('the child is ready', () => child.lines.includes('ready') || child.dead);
      return child;
    },
    async runOut(threadId) {
      await lanefold.database.pool.query(
        `update lanefold._run set lease_until = clock_timestamp() - interval '1 ms',
           enqueued_at = enqueued_at - interval '1 hour' where thread_id = $1 and status = 'running'`,
        [threadId],
      );
    },
    async close() {
      await Promise.all(children.map((child) => child.kill()));
      await outside.close();
      await lanefold.close();
    },
  };
}

function spawnChild(options: ChildOptions): Child {
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
    get dead() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    died: () => gone,
  };
}
