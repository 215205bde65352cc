import type { Database } from '../../postgres/pool.ts';
import type { HeldLease } from './renew-leases.ts';

/** The text of the cut answers that a run was continuing when its last step was committed; undefined if it was not. */
export async function readCutText(
  db: Database,
  { threadId, runId }: Pick<HeldLease, 'threadId' | 'runId'>,
  contextRef: string,
  { parts, phase }: { parts?: number | undefined; phase: string },
): Promise<string | undefined> {
  if (!parts) return undefined;
  // during a repair, the last answer is the one that is repaired
  const last = phase === 'output' ? 1 : 0;
  const rows = await db.query<{ text: string }>(
    'cut_text',
    `select payload ->> 'content' as text from lanefold._entry
     where thread_id = $1 and run_id = $2 and context_ref = $3 and role = 'assistant'
     order by seq desc limit $4 offset $5`,
    [threadId, runId, contextRef, parts, last],
  );
  return rows
    .map(({ text }) => text)
    .toReversed()
    .join('');
}
