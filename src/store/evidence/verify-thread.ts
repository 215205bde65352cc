import type { Database } from '../../postgres/pool.ts';

/** What is wrong with the log of a thread. `seq` to `upto`, both included, are the entries it is about; null: the thread. */
export interface Finding {
  threadId: string;
  seq: number | null;
  upto: number | null;
  problem:
    | 'altered'
    | 'missing'
    | 'cut_off'
    | 'unsealed'
    | 'content_altered'
    | 'not_chained'
    | 'erased'
    | 'not_found'
    | 'differs_from_head';
}

export async function verifyThread(db: Database, threadId: string): Promise<Finding[]> {
  const rows = await db.queryLong<{ seq: string | null; upto: string | null; problem: Finding['problem'] }>(
    'verify_thread',
    'select seq, upto, problem from lanefold.verify_thread($1)',
    [threadId],
  );
  const whole = (value: string | null) => (value === null ? null : Number(value));
  return rows.map(({ seq, upto, problem }) => ({ threadId, seq: whole(seq), upto: whole(upto), problem }));
}
