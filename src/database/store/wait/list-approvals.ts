import { callName } from '../../../base/checks/call-name.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { Conditions, microsSql, pageByTime, readCursor, timestampSql, type ListPage } from '../rows.ts';
import type { PendingApproval } from './types.ts';

/** Calls that wait for approval, soonest to expire first. */
export async function listApprovals(
  db: Database,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListPage<PendingApproval>> {
  const where = new Conditions();
  where.fixed('', "status = 'open' and kind = 'approval'");
  const cursor = readCursor(after, 4);
  if (cursor) {
    const [at, threadId, id, round, index] = cursor.map((part) => where.value(part)) as [...string[]];
    where.fixed(
      'c',
      `(until, thread_id, run_id, round, call_index) > (${timestampSql(at!)}, ${threadId}, ${id}, ${round}::int, ${index}::int)`,
    );
  }
  const rows = await db.query<ApprovalRow>(
    `list_approvals_${where.key}`,
    `select w.thread_id, w.run_id, r.agent, w.until, ${microsSql('w.until')} as micros, w.round, w.call_index, c.name, c.arguments,
       w.created_at, r.options #>> '{parent,root_thread_id}' as root_thread_id, r.options #>> '{parent,root_run_id}' as root_run_id
     from (select thread_id, run_id, round, call_index, until, created_at from lanefold._wait where ${where}
           order by until, thread_id, run_id, round, call_index limit ${where.value(limit + 1)}) w
     join lanefold._run r on r.thread_id = w.thread_id and r.id = w.run_id
     join lanefold.run_tool_call c
       on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index
     order by w.until, w.thread_id, w.run_id, w.round, w.call_index`,
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
      agent: row.agent,
      call: callName({ round: row.round, index: row.call_index }),
      round: row.round,
      index: row.call_index,
      name: row.name,
      arguments: row.arguments,
      requestedAt: row.created_at,
      expiresAt: row.until,
      root: row.root_run_id === null ? null : { threadId: row.root_thread_id!, id: row.root_run_id },
    })),
    nextAfter,
  };
}

interface ApprovalRow {
  thread_id: string;
  run_id: string;
  agent: string;
  until: Date;
  micros: string;
  round: number;
  call_index: number;
  name: string;
  arguments: Json;
  created_at: Date;
  root_thread_id: string | null;
  root_run_id: string | null;
}
