import { join as joinPath } from 'node:path';
import { connectionUrl, clearRuntime, readRuntime } from './runtime-file.ts';
import { embeddedFailed } from './failure.ts';
import type { Home } from './home.ts';
import { takeHold } from './lifeline.ts';
import { poll, leave } from './supervisor.ts';
import { lockState, removeStaleLock, type LockState } from './postmaster-lock.ts';

/** A running PostgreSQL that this process shares with others. It shuts down when the last process stops it or ends. */
export interface EmbeddedPostgres {
  /** Includes the password: `postgresql://postgres:…@127.0.0.1:PORT/DATABASE`. */
  url: string;
  port: number;
  dataDir: string;
  /** Process id of the postmaster. */
  pid: number;
  /**
   * Leaves it to the other processes. The last process shuts it down fast, rolling back open transactions, and waits
   * for that.
   */
  stop(): Promise<void>;
}

/** As long as a server may take to recover from a crash before it accepts connections. */
const patienceMs = 120_000;

const notOurs = (dir: string, pid: number) =>
  embeddedFailed(
    `PostgreSQL is running in ${dir} (process ${pid}) without the supervisor that Lanefold starts it with.`,
    `Stop it with kill -INT ${pid} and try again, or use another dir.`,
    { details: { dir, pid } },
  );

/** Joins a running server; `undefined` while it is starting or ending. */
async function tryJoin(
  home: Home,
  { lock, lifeline }: Extract<LockState, { is: 'running' }>,
): Promise<EmbeddedPostgres | undefined> {
  if (lifeline === undefined) throw notOurs(home.dir, lock.pid);
  const info = await readRuntime(home.runtime);
  if (lock.status !== 'ready' || info?.pid !== lock.pid) return undefined;
  const { pid, port, database } = info;
  const url = await connectionUrl(home, port, database);
  const hold = takeHold(joinPath(home.pipes, lifeline));
  if (hold === 'closing') return undefined;
  if (hold === 'unsupervised') {
    const now = await lockState(home.data);
    if (now.is === 'running' && now.lock.pid === pid) throw notOurs(home.dir, pid);
    return undefined;
  }
  const shutDown = async () => {
    if (await leave(hold, pid)) await clearRuntime(home.runtime, pid);
  };
  let stopping: Promise<void> | undefined;
  return { url, port, dataDir: home.data, pid, stop: () => (stopping ??= shutDown()) };
}

/**
 * Joins the PostgreSQL of other processes. Waits for one that is starting or ending; `undefined` if none is running.
 */
export async function joinRunning(home: Home): Promise<EmbeddedPostgres | undefined> {
  const found = await poll(
    async () => {
      const state = await lockState(home.data);
      if (state.is === 'free') return 'none';
      if (state.is === 'running') return tryJoin(home, state);
      if (state.is === 'stale') await removeStaleLock(home.data, state.text);
      return undefined;
    },
    { timeoutMs: patienceMs, everyMs: 20 },
  );
  if (found !== undefined) return found === 'none' ? undefined : found;
  throw embeddedFailed(
    `Another process started PostgreSQL in ${home.dir}, which neither accepts connections nor exits.`,
    `Read ${home.log}, stop that process, or use another dir.`,
    { details: { dir: home.dir } },
  );
}
