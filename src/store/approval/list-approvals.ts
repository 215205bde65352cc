import type { Json } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { Conditions, cursorText, microsSql, timestampSql, readCursor, type ListPage } from '../page.ts';

/** A tool call that waits for human approval. */
export interface PendingApproval {
  threadId: string;
  runId: string;
  agent: string;
  round: number;
  /** Index in its round, from 0. */
  index: number;
  name: string;
  arguments: Json;
  requestedAt: Date;
  /** When the call is denied if there is no decision. */
  expiresAt: Date;
}

/** Runs that wait for approval, soonest to expire first, with the calls to decide on; `limit` counts runs. */
export async function listApprovals(
  db: Database,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListPage<PendingApproval>> {
  const where = new Conditions();
  where.fixed('', 'suspended_until is not null');
  const cursor = readCursor(after, 2);
  if (cursor) {
    const [at, threadId, id] = cursor.map((part) => where.value(part)) as [string, string, string];
    where.fixed('c', `(suspended_until, thread_id, id) > (${timestampSql(at)}, ${threadId}, ${id})`);
  }
  const rows = await db.query<ApprovalRow>(
    `list_approvals_${where.key}`,
    `select r.thread_id, r.id, r.agent, r.suspended_until, ${microsSql('r.suspended_until')} as micros,
       c.round, c.call_index, c.name, c.arguments, c.approval ->> 'requested_at' as requested_at
     from (select thread_id, id, agent, suspended_until from lanefold._run where ${where}
           order by suspended_until, thread_id, id limit ${where.value(limit + 1)}) r
     join lanefold.run_tool_call c on c.thread_id = r.thread_id and c.run_id = r.id and c.status = 'awaiting_approval'
     order by r.suspended_until, r.thread_id, r.id, c.round, c.call_index`,
    where.values,
  );
  const runs = [...new Map(rows.map((row) => [`${row.thread_id}/${row.id}`, row])).values()];
  const beyond = runs[limit];
  const shown = beyond
    ? rows.slice(
        0,
        rows.findIndex((row) => row.id === beyond.id && row.thread_id === beyond.thread_id),
      )
    : rows;
  const last = shown.at(-1);
  return {
    data: shown.map((row) => ({
      threadId: row.thread_id,
      runId: row.id,
      agent: row.agent,
      round: row.round,
      index: row.call_index,
      name: row.name,
      arguments: row.arguments,
      requestedAt: new Date(row.requested_at),
      expiresAt: row.suspended_until,
    })),
    nextAfter: beyond && last ? cursorText([last.micros, last.thread_id, last.id]) : null,
  };
}

interface ApprovalRow {
  thread_id: string;
  id: string;
  agent: string;
  suspended_until: Date;
  micros: string;
  round: number;
  call_index: number;
  name: string;
  arguments: Json;
  requested_at: string;
}
