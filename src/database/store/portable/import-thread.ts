import { call } from '../call.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../postgres/pool.ts';
import { assertNotDistributed } from './read-export.ts';

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
  const result = await call(db.queryLong, 'import_thread', { threadId, p }).catch((error: unknown) => {
    throw unstorable(error) ?? error;
  });
  return result as StoredImport;
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
