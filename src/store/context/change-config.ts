import type { Json } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';

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
  changes: { field: string; value: Json }[],
): Promise<ConfigReceipt> {
  const [row] = await db.queryLocking<{ result: { status: ConfigReceipt['status']; first_seq?: number } }>(
    'change_config',
    'select lanefold.change_config($1, $2, $3) as result',
    [threadId, contextRef, JSON.stringify(changes)],
  );
  return { status: row!.result.status, firstSeq: row!.result.first_seq ?? null };
}
