import { call } from '../call.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../postgres/pool.ts';
import { readThread } from '../log/read-thread.ts';
import type { RecordedThread } from '../log/types.ts';

/*
 * Rows are JSON texts, as PostgreSQL prints them: a number with more digits than a double has keeps them. Entries never
 * change, so an export needs no snapshot, and a slow reader holds no connection.
 */

export interface ExportedEntry {
  seq: number;
  row: string;
  /** Ids of the large texts that it quotes. */
  contents: string[];
  /** Its hash in the chain of the thread, hexadecimal. */
  chain: string | null;
}

/** A page of entries has at least this much, if the thread has, and up to one entry more. */
export const exportPageBytes = 4 * 1024 * 1024;
const pageRows = 500;
const columns =
  'thread_id, seq, at, kind, context_ref, role, op_id, run_id, request_id, is_anchor, payload, refs, hash';

/** The entries of a thread below `rev`, in order. @throws LanefoldError `thread_erased`, `thread_not_found` */
export async function* exportEntries(
  db: Database,
  { id, rev }: Pick<RecordedThread, 'id' | 'rev'>,
): AsyncGenerator<ExportedEntry, void, void> {
  for (let next = 0; next < rev;) {
    const rows = await db.query<Omit<ExportedEntry, 'seq'> & { seq: string }>(
      'export_entries',
      `select e.seq, jsonb_build_object('seq', e.seq, 'at', to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
           'kind', e.kind, 'context_ref', e.context_ref, 'role', e.role, 'op_id', e.op_id, 'op_hash', o.hash, 'append_key', r.op_id, 'append_hash', r.hash, 'run_id', e.run_id,
           'request_id', e.request_id, 'is_anchor', e.is_anchor, 'payload', e.payload, 'refs', e.refs,
           'chain', encode(e.hash, 'hex'))::text as row,
         encode(e.hash, 'hex') as chain,
         array(select k ->> 'id' from jsonb_path_query(e.refs, '$.contents[*]') k where e.kind = 'ai_message'
           union select k ->> 'id' from jsonb_path_query(e.payload, '$.operation.result_context.entries[*].refs.contents[*]') k
           where e.kind = 'ai_context_operation') as contents
       from (
         select ${columns}, sum(coalesce(bytes, 0)) over (order by seq) - coalesce(bytes, 0) as before
         from (select ${columns}, bytes from lanefold._entry where thread_id = $1 and seq >= $2 and seq < $3 order by seq limit ${pageRows}) x
       ) e
       left join lanefold.context_op o on o.thread_id = e.thread_id and o.op_id = e.op_id
       left join lanefold._append_receipt r on r.thread_id = $1 and r.first_seq >= $2 and r.first_seq < $3 and r.first_seq = e.seq
         and r.op_id <> 'import/request'
       where e.before < ${exportPageBytes}
       order by e.seq`,
      [id, next, rev],
    );
    const entries = rows.map((row) => ({ ...row, seq: Number(row.seq) }));
    for (const entry of entries) if (entry.seq !== next++) throw await interrupted(db, id, next - 1);
    if (entries.length === 0) throw await interrupted(db, id, next);
    yield* entries;
  }
}

/** Why an entry below the head is missing: the thread was erased meanwhile, or its log is damaged. */
async function interrupted(db: Database, id: string, seq: number): Promise<LanefoldError> {
  await readThread(db, id);
  return new LanefoldError('history_unreadable', `Thread ${id} has no entry ${seq}, although it has later ones.`, {
    hint: 'Run `lanefold verify`, and restore the thread from a backup.',
  });
}

/**
 * The runs that have begun or ended before the entry `rev`, with their ledgers; without requests, states and events. A run
 * that continues after that entry has the status `running`.
 */
export async function* exportRuns(
  db: Database,
  { id, rev }: Pick<RecordedThread, 'id' | 'rev'>,
): AsyncGenerator<string, void, void> {
  for (let after = ''; ;) {
    const rows = await db.query<{ id: string; row: string }>(
      'export_runs',
      `select r.id, jsonb_build_object('id', r.id, 'request_id', r.request_id, 'request_hash', r.request_hash, 'agent', r.agent,
           'strategy', r.strategy, 'model', r.model, 'context_ref', r.context_ref,
           'status', case when r.finished_at is null or r.result_seq >= $3 then 'running' else r.status end,
           'termination_reason', r.termination_reason, 'finish_reason', r.finish_reason, 'step', r.step, 'iteration', r.iteration, 'usage', r.usage,
           'other_usage', r.other_usage, 'result', case when r.result_seq is null then r.result end, 'error', r.error,
           'user_seq', r.user_seq, 'result_seq', case when r.result_seq < $3 then r.result_seq end, 'created_at', r.created_at,
           'started_at', r.started_at, 'finished_at', case when r.result_seq >= $3 then null else r.finished_at end,
           'tool_calls', (select coalesce(jsonb_agg(jsonb_build_object('round', c.round, 'call_index', c.call_index,
               'tool_call_id', c.tool_call_id, 'name', c.name, 'status', c.status, 'attempts', c.attempts,
               'duration_ms', c.duration_ms, 'call_seq', c.call_seq,
               'result_seq', case when c.result_seq < $3 then c.result_seq end, 'started_at', c.started_at,
               'finished_at', c.finished_at, 'approval', c.approval) order by c.round, c.call_index), '[]')
             from lanefold._tool_call c where c.thread_id = $1 and c.run_id = r.id and c.call_seq < $3))::text as row
       from lanefold.run r
       where r.thread_id = $1 and r.id > $2 and (r.user_seq < $3 or r.user_seq is null and r.finished_at is not null)
       order by r.id limit 100`,
      [id, after, rev],
    );
    for (const { row } of rows) yield row;
    if (rows.length < 100) return;
    after = rows.at(-1)!.id;
  }
}

/** The ids of runs that had not begun before the entry `rev`, at most 1,000. */
export async function waitingRuns(db: Database, { id, rev }: Pick<RecordedThread, 'id' | 'rev'>): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'waiting_of_thread',
    `select id from lanefold._run
     where thread_id = $1 and (user_seq >= $2 or user_seq is null and finished_at is null) order by created_at limit 1000`,
    [id, rev],
  );
  return rows.map((row) => row.id);
}

/** The digest of each lane as of the entry `rev - 1`. */
export async function laneDigests(
  db: Database,
  { id, rev }: Pick<RecordedThread, 'id' | 'rev'>,
): Promise<{ context_ref: string; digest: string }[]> {
  const lanes = await db.query<{ context_ref: string }>(
    'lanes_of_thread',
    'select context_ref from lanefold._lane where thread_id = $1 order by context_ref',
    [id],
  );
  const digests: { context_ref: string; digest: string }[] = [];
  for (const { context_ref } of lanes) {
    const digest = await call(db.query, 'lane_digest', { threadId: id, contextRef: context_ref, upto: rev - 1 });
    digests.push({ context_ref, digest });
  }
  return digests;
}

/**
 * Citus 13.2 ends the coordinator on the statement that reads an export, and refuses the one that writes an import, because
 * row-level security applies.
 *
 * @throws LanefoldError `distributed_database`
 */
export function assertNotDistributed(db: Database): void {
  if (!db.settings.distributed) return;
  throw new LanefoldError('distributed_database', 'A distributed database cannot export or import threads.', {
    hint: 'Nothing was read or written. Use `pg_dump`, or copy the messages with `append`.',
  });
}
