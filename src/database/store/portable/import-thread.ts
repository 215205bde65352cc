import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../postgres/pool.ts';
import { assertNotDistributed } from './not-distributed.ts';

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
 * @throws LanefoldError `distributed_database`; `import_refused` for a value that no column can have, and what `import_thread` raises
 *
 * @param p the argument of `import_thread`, as text: its numbers may have more digits than a double
 */
export async function importThread(db: Database, threadId: string, p: string): Promise<StoredImport> {
  assertNotDistributed(db);
  const [row] = await db
    .queryLong<{ result: StoredImport }>('import_thread', 'select lanefold.import_thread($1, $2) as result', [
      threadId,
      p,
    ])
    .catch((error: unknown) => {
      throw unstorable(error) ?? error;
    });
  return row!.result;
}

/** SQLSTATEs of classes 22, 23 and 54: a value that its column or an index cannot have. */
function unstorable(error: unknown): LanefoldError | undefined {
  if (!isLanefoldError(error, 'database_error') || !/^(2[23]|54)/.test(String(error.details?.['sqlstate'])))
    return undefined;
  return new LanefoldError('import_refused', `A value of the import cannot be stored: ${error.message}`, {
    hint: 'Nothing was imported. Correct the source, or export the thread again.',
    cause: error,
  });
}
