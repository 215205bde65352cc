import type { CheckedMonitor } from '../definition/read-definition.ts';
import type { Database } from '../../../database/postgres/pool.ts';

/** A monitor that the caller has taken, with how far it is read. Times have microseconds. */
export interface TakenMonitor extends Pick<CheckedMonitor, 'agents' | 'sample' | 'scorers' | 'rubric' | 'judge'> {
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
  const rows = await db.query<{ monitor: TakenMonitor }>(
    'take_monitors',
    'select t.monitor from lanefold.take_monitors($1, $2, $3, $4, $5) as t (monitor)',
    [queuePrefix, JSON.stringify(scorers), JSON.stringify(agents), holdMs, limit],
  );
  return rows.map(({ monitor }) => monitor);
}

/** Notes how far a monitor is read, and holds it; see `advance_monitor`. Returns false if another worker has it. */
export async function advanceMonitor(
  db: Database,
  { tenant_id, name, taken_at }: TakenMonitor,
  cursor: MonitorCursor | null,
  holdMs: number,
): Promise<boolean> {
  const text = 'select a.held from lanefold.advance_monitor($1, $2, $3, $4, $5) as a (held)';
  const values = [tenant_id, name, taken_at, cursor as never, holdMs];
  return (await db.query<{ held: boolean }>('advance_monitor', text, values))[0]!.held;
}
