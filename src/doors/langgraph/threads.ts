import { Recent } from '../../base/common/recent.ts';
import { isLanefoldError } from '../../base/errors.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { createThread } from '../../database/store/log/read-thread.ts';
import { threadOf } from './keys.ts';

/** Finds the thread that a thread of LangGraph is now: see `threadOf`. */
export class LangGraphThreads {
  readonly #generations = new Recent<string, number>(1_024);

  /** Works on the thread; after `thread_erased`, on the one that comes after it. */
  async find<T>(id: string, work: (threadId: string) => Promise<T>): Promise<T> {
    for (;;) {
      const generation = this.#generations.get(id) ?? 1;
      try {
        return await work(threadOf(id, generation));
      } catch (error) {
        if (!isLanefoldError(error, 'thread_erased')) throw error;
        this.#generations.set(id, generation + 1);
      }
    }
  }

  /** As `find`, and creates the thread where it does not exist. @throws LanefoldError `thread_exists` of another tenant */
  findOrCreate<T>(db: Database, id: string, work: (threadId: string) => Promise<T>): Promise<T> {
    return this.find(id, async (threadId) => {
      try {
        return await work(threadId);
      } catch (error) {
        if (!isLanefoldError(error, 'thread_not_found')) throw error;
      }
      const taken: unknown = await createThread(db, { id: threadId, tenantId: db.tenant }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (taken && !isLanefoldError(taken, 'thread_exists')) throw taken;
      return work(threadId).catch((error: unknown) => {
        // another process has created it; or another tenant has it, and this one cannot
        throw taken && isLanefoldError(error, 'thread_not_found') ? taken : error;
      });
    });
  }
}
