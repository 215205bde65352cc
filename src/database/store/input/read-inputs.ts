import type { Message } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';

/** An input that a run accepted, and what became of it. */
export interface RunInput {
  id: string;
  runId: string;
  /** Place among the inputs of its run, from 1. */
  ordinal: number;
  kind: 'steer' | 'inject';
  source: string;
  content: Message['content'];
  status: 'queued' | 'injected' | 'dropped';
  /** The entry of the message it became. */
  entrySeq: number | null;
  createdAt: Date;
  /** When it became a message or was dropped. */
  settledAt: Date | null;
}

/** The inputs of a run, in order of acceptance. */
export async function readInputs(
  db: Database,
  threadId: string,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<RunInput[]> {
  const rows = await db.query<Record<string, never>>(
    'run_inputs',
    `select id, run_id, ordinal, kind, source, coalesce(parts, to_jsonb(content)) as content, status, entry_seq::float8, created_at, settled_at
     from lanefold.pending_input where thread_id = $1 and run_id = $2 and ordinal > $3 order by ordinal limit $4`,
    [threadId, runId, after, limit],
  );
  return rows.map((row) => ({
    id: row['id']!,
    runId: row['run_id']!,
    ordinal: row['ordinal']!,
    kind: row['kind']!,
    source: row['source']!,
    content: row['content']!,
    status: row['status']!,
    entrySeq: row['entry_seq'] ?? null,
    createdAt: row['created_at']!,
    settledAt: row['settled_at'] ?? null,
  }));
}
