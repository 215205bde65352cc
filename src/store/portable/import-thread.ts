import type { Database } from '../../postgres/pool.ts';

export interface StoredImport {
  id: string;
  rev: number;
  duplicate: boolean;
  /** Results that were added to the last tool group of a lane. */
  repaired: { seq: number; context_ref: string; tool_call_id: string }[];
}

/**
 * Creates a thread with all its entries in one transaction. Repeating it with the same hash returns the first answer.
 *
 * @param p the argument of `import_thread`, as text: its numbers may have more digits than a double
 */
export async function importThread(db: Database, threadId: string, p: string): Promise<StoredImport> {
  const [row] = await db.queryLong<{ result: StoredImport }>(
    'import_thread',
    'select lanefold.import_thread($1, $2) as result',
    [threadId, p],
  );
  return row!.result;
}
