import { call } from '../call.ts';
import type { ListedRollout } from '../../../agent/definition/types.ts';
import type { Rollout } from '../../../agent/definition/version.ts';
import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';

/** A rollout as the database has it. */
export type StoredRollout = Omit<ListedRollout, 'unknown'>;

/** The rollouts of all agents, by name. */
export const readRollouts = (db: Database): Promise<StoredRollout[]> =>
  readRows<StoredRollout>(
    db,
    'read_rollouts',
    `select agent, shares, key, updated_at, updated_by from lanefold._rollout order by agent`,
  );

export async function setRollout(db: Database, agent: string, rollout: Rollout, by: string): Promise<void> {
  await call(db.query, 'set_rollout', { agent, p: { ...rollout, by } });
}

/** Returns false if there is none. */
export async function removeRollout(db: Database, agent: string, by: string): Promise<boolean> {
  return call(db.query, 'remove_rollout', { agent, by });
}

/** What a thread has of an agent: the version that it keeps, if any, and whether it has runs of the agent. */
export async function readThreadVersion(
  db: Database,
  threadId: string,
  agent: string,
): Promise<{ version: string | null; hasRuns: boolean }> {
  const [row] = await readRows<{ version: string | null; hasRuns: boolean }>(
    db,
    'thread_version',
    `select t.versions ->> $2 as version,
       exists (select from lanefold._run r where r.thread_id = $1 and r.agent = $2) as has_runs
     from lanefold.thread t where t.id = $1`,
    [threadId, agent],
  );
  return row ?? { version: null, hasRuns: false };
}

/** Sets the version that a thread keeps of an agent; null: the rollout chooses again. */
export async function setThreadVersion(
  db: Database,
  threadId: string,
  agent: string,
  version: string | null,
  by: string,
): Promise<void> {
  await call(db.queryLocking, 'set_thread_version', { threadId, agent, version, by });
}
