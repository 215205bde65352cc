import type { Database } from '../../../database/postgres/pool.ts';
import { listWorkers, type ListedWorker } from '../../../database/store/worker/list-workers.ts';
import { assertWhole } from '../../../base/checks/values.ts';

export interface Workers {
  /**
   * The workers that are alive, then those that stopped or died within `hours` (default 1, at most 720), newest first;
   * at most 1,000 workers.
   *
   * @throws LanefoldError `invalid_input`
   *
   * @example
   * const alive = (await lanefold.workers.list()).filter(({ state }) => state === 'alive');
   */
  list(options?: { hours?: number }): Promise<ListedWorker[]>;
}

export const workersOf = (db: Database): Workers => ({
  async list({ hours = 1 } = {}) {
    // rows are kept for 30 days
    assertWhole(hours, 'hours', { minimum: 1, maximum: 720, hint: 'Omit it for the last hour.' });
    return listWorkers(db, hours);
  },
});
