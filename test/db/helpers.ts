import { createModelRegistry } from '../../src/agent/models/registry.ts';
import { createAgentRegistry } from '../../src/agent/definition/registry.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { contextsOf } from '../../src/runs/operations/contexts/contexts.ts';
import { type Contexts } from '../../src/runs/operations/contexts/methods.ts';
import { threadsOf } from '../../src/runs/operations/threads/threads.ts';
import type { Threads } from '../../src/runs/operations/threads/methods.ts';
import type { FoldEntry } from '../../src/agent/context/fold.ts';
import type { ErrorCode } from '../../src/base/errors.ts';
import { createCounting } from '../../src/agent/models/counting.ts';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { QuietWaits } from '../../src/runs/fleet/unattended.ts';
import { openStreams } from '../../src/runs/streams/open.ts';
import type { WorkerReport } from '../../src/database/store/worker/find-lacking.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { onCitus } from '../support/services.ts';
import { assertInvariants } from './invariants.ts';

export interface TestLog extends TestDatabase {
  /** For SQL whose faults arrive as `LanefoldError`. */
  db: Database;
  threads: Threads;
  contexts: Contexts;
}

const noWaits = new QuietWaits(async () => [], 600_000);

/** The library's log on a database of its own, without a queue. `drop` closes it. */
export async function openLog({ connections = 4 } = {}): Promise<TestLog> {
  const database = await createDatabase();
  const db = openDatabase({ url: database.url, max: connections });
  db.settings.distributed = onCitus;
  const counting = createCounting();
  const agents = await createAgentRegistry([]);
  const streams = openStreams(db, { databaseUrl: database.url }, () => noWaits);
  // without a queue, no run is accepted
  const accepting = { db, agents, models: createModelRegistry(), counting, queue: undefined as never };
  return {
    ...database,
    db,
    threads: threadsOf({ accepting, streams, keepers: [] }),
    contexts: contextsOf(accepting),
    async drop() {
      await streams.close();
      await db.close();
      await database.drop();
    },
  };
}

/** The log of a suite, open while its tests run; at the end the invariants must hold in it. */
export function useLog(): TestLog {
  const log = {} as TestLog;
  beforeAll(async () => void Object.assign(log, await openLog()));
  afterAll(async () => {
    await assertInvariants(log.db);
    await log.drop();
  });
  return log;
}

/** The rows of a statement; lists and scalars for `jsonb` parameters must be JSON text already. */
export const rows = <Row = Record<string, never>>(db: Database, text: string, ...values: unknown[]): Promise<Row[]> =>
  db.query<Row>('', text, values);

/** The first column of the first row. */
export async function value<T>(db: Database, text: string, ...values: unknown[]): Promise<T> {
  const [row] = await rows<Record<string, T>>(db, text, ...values);
  return Object.values(row!)[0]!;
}

let made = 0;

/** Creates a thread under a fresh id. */
export async function newThread(log: TestLog, options: { systemPrompt?: string | null } = {}): Promise<string> {
  const { id } = await log.threads.create({ id: `t${++made}`, ...options });
  return id;
}

export const refused = (promise: Promise<unknown>, code: ErrorCode): Promise<void> =>
  expect(promise).rejects.toMatchObject({ name: 'LanefoldError', code, hint: expect.stringMatching(/\w/) });

/** The log as the fold reads it. */
export const logOf = (db: Database, threadId: string): Promise<FoldEntry[]> =>
  rows<FoldEntry>(
    db,
    `select seq::float8, kind, context_ref, role, is_anchor, run_id, request_id, payload, refs
     from lanefold.thread_entry where thread_id = $1 order by seq`,
    threadId,
  );

/** Everything a refused call could have changed. */
export const everythingOf = async (db: Database, threadId: string) => ({
  thread: await rows(db, 'select * from lanefold.thread where id = $1', threadId),
  entries: await logOf(db, threadId),
  lanes: await rows(db, 'select * from lanefold.lane where thread_id = $1 order by 1, 2', threadId),
  branches: await rows(db, 'select * from lanefold.lane_tree where thread_id = $1 order by 1, 2', threadId),
  ops: await rows(db, 'select * from lanefold.context_op where thread_id = $1 order by op_id', threadId),
  runs: await rows(db, 'select * from lanefold._run where thread_id = $1 order by id', threadId),
  calls: await rows(
    db,
    'select * from lanefold._tool_call where thread_id = $1 order by run_id, round, call_index',
    threadId,
  ),
  events: await rows(db, 'select * from lanefold.run_event where thread_id = $1 order by event_seq', threadId),
  inputs: await rows(
    db,
    'select * from lanefold.pending_input where thread_id = $1 order by run_id, ordinal',
    threadId,
  ),
  contents: await rows(db, 'select * from lanefold.content where thread_id = $1 order by id', threadId),
  outbox: await rows(db, 'select * from lanefold._webhook_event where thread_id = $1 order by type, key', threadId),
  deliveries: await rows(db, 'select * from lanefold._webhook_delivery where thread_id = $1 order by id', threadId),
});

/** What a worker says of itself with a heartbeat. */
export const workerReport = (id: string, given: Partial<WorkerReport> = {}): WorkerReport => ({
  id,
  host: 'box',
  pid: 7,
  version: '1.2.3',
  queue: 'lf',
  agents: ['a', 'b'],
  strategies: ['react'],
  versions: [],
  tools: [],
  concurrency: 20,
  deadAfterMs: 600_000,
  runsHeld: 0,
  draining: false,
  stopped: false,
  stalls: [],
  ...given,
});
