import { callName } from '../../../base/checks/call-name.ts';
import type { Database } from '../../postgres/pool.ts';
import { Conditions, microsSql, pageByTime, readCursor, timestampSql, type ListPage } from '../rows.ts';
import type { PendingWait } from './types.ts';

interface WaitFilter {
  event?: string;
  kind?: PendingWait['kind'];
  threadId?: string;
  after?: string;
  limit: number;
}

/** Open waits, oldest first. */
export async function listWaits(
  db: Database,
  { event, kind, threadId, after, limit }: WaitFilter,
): Promise<ListPage<PendingWait>> {
  const where = new Conditions();
  where.fixed('', "status = 'open' and kind <> 'approval'");
  where.add('e', 'event = $', event).add('k', 'kind = $', kind).add('t', 'thread_id = $', threadId);
  const cursor = readCursor(after, 4);
  if (cursor) {
    const [at, thread, id, round, index] = cursor.map((part) => where.value(part)) as [...string[]];
    where.fixed(
      'c',
      `(created_at, thread_id, run_id, round, call_index) > (${timestampSql(at!)}, ${thread}, ${id}, ${round}::int, ${index}::int)`,
    );
  }
  const rows = await db.query<WaitRow>(
    `list_waits_${where.key}`,
    `select w.thread_id, w.run_id, w.round, w.call_index, c.name, w.kind, w.event, w.child_thread_id, w.child_run_id, w.created_at,
       w.until, ${microsSql('w.created_at')} as micros
     from (select thread_id, run_id, round, call_index, kind, event, child_thread_id, child_run_id, created_at, until
           from lanefold._wait where ${where}
           order by created_at, thread_id, run_id, round, call_index limit ${where.value(limit + 1)}) w
     join lanefold._tool_call c
       on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index
     order by w.created_at, w.thread_id, w.run_id, w.round, w.call_index`,
    where.values,
  );
  const { data, nextAfter } = pageByTime(rows, limit, (last) => [
    last.thread_id,
    last.run_id,
    String(last.round),
    String(last.call_index),
  ]);
  return {
    data: data.map((row) => ({
      threadId: row.thread_id,
      runId: row.run_id,
      round: row.round,
      index: row.call_index,
      call: callName({ round: row.round, index: row.call_index }),
      name: row.name,
      kind: row.kind,
      event: row.event,
      run: row.child_run_id === null ? null : { threadId: row.child_thread_id!, id: row.child_run_id },
      since: row.created_at,
      until: row.until,
    })),
    nextAfter,
  };
}

interface WaitRow {
  thread_id: string;
  run_id: string;
  round: number;
  call_index: number;
  name: string;
  kind: PendingWait['kind'];
  event: string | null;
  child_thread_id: string | null;
  child_run_id: string | null;
  created_at: Date;
  until: Date | null;
  micros: string;
}
