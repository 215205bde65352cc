import type { Json } from '../../../agent/context/message.ts';
import type { LoggedConfig } from '../../../agent/definition/run-options.ts';
import type { Database } from '../../postgres/pool.ts';
import { head } from './read-lanes.ts';

export interface LaneConfig extends LoggedConfig {
  /** Absent if none was ever set. */
  system_prompt?: string | null;
}

/** The configuration of a lane as of an entry, or now, with the prompt its anchors may have set. */
export async function readConfig(
  db: Database,
  threadId: string,
  contextRef: string,
  atSeq?: number,
): Promise<LaneConfig> {
  const rows = await db.query<{ field: string; value: never }>(
    'lane_config_at',
    `select field, value from lanefold.lane_config_at($1, $2, $3) where field <> 'system_prompt'
     union all select 'system_prompt', to_jsonb(prompt) from lanefold._lane_prompt($1, $2, $3)`,
    [threadId, contextRef, atSeq ?? head],
  );
  return Object.fromEntries(rows.map((row) => [row.field, row.value]));
}

export interface ConfigReceipt {
  /** `deferred`: a run is active; the change is written when it ends. */
  status: 'applied' | 'deferred';
  firstSeq: number | null;
}

/** Changes the configuration of a lane, or of the whole thread where `contextRef` is null, from the next run on. */
export async function changeConfig(
  db: Database,
  threadId: string,
  contextRef: string | null,
  changes: { field: string; value: Json; by?: string }[],
): Promise<ConfigReceipt> {
  const [row] = await db.queryLocking<{ result: { status: ConfigReceipt['status']; first_seq?: number } }>(
    'change_config',
    'select lanefold.change_config($1, $2, $3) as result',
    [threadId, contextRef, JSON.stringify(changes)],
  );
  return { status: row!.result.status, firstSeq: row!.result.first_seq ?? null };
}
