import type { Json } from '../../../agent/context/message.ts';
import { modelGiven, modelStored } from '../../../agent/models/model-chain.ts';
import { call, callRows } from '../../../database/store/call.ts';
import type { CheckedMonitor } from '../definition/read-definition.ts';
import type { ListedMonitor } from '../types.ts';
import { readRows } from '../../../database/store/rows.ts';
import type { Database } from '../../../database/postgres/pool.ts';

const columns = `name, tenant_id as tenant, agents, sample, scorers, rubric, judge, alert, scored::float8 as scored, low_since, read_to,
  created_at, updated_at, updated_by`;

/** The judge as the database keeps it. */
type StoredJudge = { agent: string; model?: Json } | null;
type StoredMonitor = Omit<ListedMonitor, 'judge'> & { judge: StoredJudge };

const listed = ({ judge, ...row }: StoredMonitor): ListedMonitor => ({ ...row, judge: judge && modelGiven(judge) });

/** All monitors that the caller may see, by tenant and name. */
export const readMonitors = async (db: Database): Promise<ListedMonitor[]> =>
  (
    await readRows<StoredMonitor>(db, 'monitors', `select ${columns} from lanefold._monitor order by tenant_id, name`)
  ).map(listed);

export async function readMonitor(db: Database, tenant: string, name: string): Promise<ListedMonitor | undefined> {
  const text = `select ${columns} from lanefold._monitor where tenant_id = $1 and name = $2`;
  return (await readRows<StoredMonitor>(db, 'monitor', text, [tenant, name])).map(listed)[0];
}

/** See `set_monitor`. */
export async function setMonitor(
  db: Database,
  tenant: string,
  name: string,
  { judge, ...p }: CheckedMonitor & { queue_prefix: string | null; by: string },
): Promise<void> {
  await call(db.query, 'set_monitor', { tenant, name, p: { ...p, judge: judge && modelStored(judge) } });
}

/** Returns false if there is none. */
export async function removeMonitor(db: Database, tenant: string, name: string, by: string): Promise<boolean> {
  return await call(db.queryLong, 'remove_monitor', { tenant, name, by });
}

/** A monitor that the caller has taken, with how far it is read. Times have microseconds. */
export interface TakenMonitor extends Pick<CheckedMonitor, 'agents' | 'sample' | 'scorers' | 'rubric'> {
  judge: StoredJudge;
  tenant_id: string;
  name: string;
  queue_prefix: string | null;
  taken_at: string;
  read_to: string;
  read_thread_id: string;
  read_run_id: string;
  /** Runs that ended later may still be committing. */
  until: string;
}

/** How far a monitor is read. */
export interface MonitorCursor {
  read_to: string;
  thread_id: string;
  run_id: string;
}

/** Takes the monitors that this worker can read on for; see `take_monitors`. */
export async function takeMonitors(
  db: Database,
  {
    queuePrefix,
    scorers,
    agents,
  }: { queuePrefix: string | null; scorers: readonly string[]; agents: readonly string[] },
  { holdMs, limit }: { holdMs: number; limit: number },
): Promise<TakenMonitor[]> {
  const rows = await callRows(db.query, 'take_monitors', {
    queue: queuePrefix,
    scorers: JSON.stringify(scorers),
    agents: JSON.stringify(agents),
    holdMs,
    limit,
  });
  return rows.map(({ result }) => result as TakenMonitor);
}

/** Notes how far a monitor is read, and holds it; see `advance_monitor`. Returns false if another worker has it. */
export async function advanceMonitor(
  db: Database,
  { tenant_id, name, taken_at }: TakenMonitor,
  cursor: MonitorCursor | null,
  holdMs: number,
): Promise<boolean> {
  return await call(db.query, 'advance_monitor', {
    tenant: tenant_id,
    name,
    takenAt: taken_at,
    p: cursor,
    holdMs,
  });
}
