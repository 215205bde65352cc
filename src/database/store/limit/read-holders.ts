import type { RunStatus } from '../run/types.ts';
import type { LimitKind } from '../../../agent/limits/limit.ts';
import type { Database } from '../../postgres/pool.ts';
import { Conditions, cursorText, invalidCursor, microsSql, readCursor, timestampSql, type ListPage } from '../page.ts';
import { keyText, readKeyText } from './listed-buckets.ts';
import { readRows } from '../rows.ts';

/** What a run holds of a bucket. */
export interface StoredHolder {
  /** The tenant that set the limit; `*`: the operator. */
  owner: string;
  name: string;
  kind: LimitKind;
  /** See `bucketKey`. */
  key: string;
  /** Whole text; of money in billionths of a dollar. */
  amount: string;
  threadId: string;
  runId: string;
  agent: string;
  status: RunStatus;
  /** The worker that executes it. */
  workerId: string | null;
  since: Date;
}

export interface HolderQuery {
  name?: string | undefined;
  key?: string | undefined;
  after?: string | undefined;
  limit: number;
}

const order = 'since, thread_id, run_id, owner, name, key';

/**
 * Which runs hold something of limits, the longest first. Reads the accounts of all unfinished runs that limits apply to.
 */
export async function readHolders(
  db: Database,
  { name, key: ofKey, after, limit }: HolderQuery,
): Promise<ListPage<StoredHolder>> {
  const where = new Conditions().add('n', 'name = $', name).add('k', 'key = $', ofKey);
  where.add('t', 'tenant_id = $', db.tenant);
  const cursor = readCursor(after, 5);
  if (cursor) {
    const key = readKeyText(cursor[5]!);
    if (key === undefined) throw invalidCursor(after!);
    const [at, ...ids] = [...cursor.slice(0, 5), key].map((part) => where.value(part)) as [string, ...string[]];
    where.fixed('c', `(${order}) > (${timestampSql(at)}, ${ids.join(', ')})`);
  }
  const rows = await readRows<StoredHolder & { micros: string }>(
    db,
    `limit_holders_${where.key}`,
    `select owner, name, kind, key, amount, thread_id, run_id, agent, status, worker_id, since,
       ${microsSql('since')} as micros
     from lanefold.limit_holder where ${where}
     order by ${order} limit ${where.value(limit + 1)}`,
    where.values,
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    data: shown.map(({ micros: _, ...holder }) => holder),
    nextAfter:
      rows.length > limit && last
        ? cursorText([last.micros, last.threadId, last.runId, last.owner, last.name, keyText(last.key)])
        : null,
  };
}
