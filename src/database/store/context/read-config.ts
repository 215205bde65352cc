import { call } from '../call.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { LoggedConfig } from '../../../agent/definition/run-options.ts';
import type { Database } from '../../postgres/pool.ts';
import type { ConfigReceipt } from './types.ts';
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
    'lane_config_and_prompt',
    `select field, value from lanefold.lane_config_at($1, $2, $3) where field <> 'system_prompt'
     union all select 'system_prompt', to_jsonb(prompt) from lanefold._lane_prompt($1, $2, $3)`,
    [threadId, contextRef, atSeq ?? head],
  );
  return Object.fromEntries(rows.map((row) => [row.field, row.value]));
}

/** Changes the configuration of a lane, or of the whole thread where `contextRef` is null, from the next run on. */
export async function changeConfig(
  db: Database,
  threadId: string,
  contextRef: string | null,
  changes: { field: string; value: Json; by?: string }[],
): Promise<ConfigReceipt> {
  const result = (await call(db.queryLocking, 'change_config', {
    threadId,
    contextRef,
    changes: JSON.stringify(changes),
  })) as { status: ConfigReceipt['status']; first_seq?: number };
  return { status: result.status, firstSeq: result.first_seq ?? null };
}
