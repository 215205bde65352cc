import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../postgres/pool.ts';

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
