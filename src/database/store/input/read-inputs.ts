import type { RunInput } from './types.ts';
import type { Database } from '../../postgres/pool.ts';

/** The inputs of a run, in order of acceptance. */
export async function readInputs(
  db: Database,
  threadId: string,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<RunInput[]> {
  const rows = await db.query<Record<string, never>>(
    'run_inputs',
    `select id, run_id, ordinal, kind, by, coalesce(parts, to_jsonb(content)) as content, status, entry_seq::float8, created_at, settled_at
     from lanefold.pending_input where thread_id = $1 and run_id = $2 and ordinal > $3 order by ordinal limit $4`,
    [threadId, runId, after, limit],
  );
  return rows.map((row) => ({
    id: row['id']!,
    runId: row['run_id']!,
    ordinal: row['ordinal']!,
    kind: row['kind']!,
    by: row['by']!,
    content: row['content']!,
    status: row['status']!,
    entrySeq: row['entry_seq'] ?? null,
    createdAt: row['created_at']!,
    settledAt: row['settled_at'] ?? null,
  }));
}
