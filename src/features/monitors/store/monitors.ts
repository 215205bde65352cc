import type { JsonObject } from '../../../agent/context/message.ts';
import type { CheckedMonitor } from '../definition/read-definition.ts';
import type { ListedMonitor } from '../types.ts';
import type { Database } from '../../../database/postgres/pool.ts';

const columns = `name, tenant_id as tenant, agents, sample, scorers, rubric, judge, alert, scored::float8 as scored, low_since as "lowSince",
  read_to as "readTo", created_at as "createdAt", updated_at as "updatedAt", updated_by as "updatedBy"`;

/** All monitors that the caller may see, by tenant and name. */
export const readMonitors = (db: Database): Promise<ListedMonitor[]> =>
  db.query<ListedMonitor & Record<string, unknown>>(
    'monitors',
    `select ${columns} from lanefold._monitor order by tenant_id, name`,
  );

export async function readMonitor(db: Database, tenant: string, name: string): Promise<ListedMonitor | undefined> {
  const text = `select ${columns} from lanefold._monitor where tenant_id = $1 and name = $2`;
  return (await db.query<ListedMonitor & Record<string, unknown>>('monitor', text, [tenant, name]))[0];
}

/** See `set_monitor`. */
export async function setMonitor(
  db: Database,
  tenant: string,
  name: string,
  p: CheckedMonitor & { queue_prefix: string | null; by: string },
): Promise<void> {
  const text = 'select s.done from lanefold.set_monitor($1, $2, $3) as s (done)';
  await db.query('set_monitor', text, [tenant, name, p as unknown as JsonObject]);
}

/** Returns false if there is none. */
export async function removeMonitor(db: Database, tenant: string, name: string, by: string): Promise<boolean> {
  const text = 'select r.found from lanefold.remove_monitor($1, $2, $3) as r (found)';
  return (await db.queryLong<{ found: boolean }>('remove_monitor', text, [tenant, name, by]))[0]!.found;
}
