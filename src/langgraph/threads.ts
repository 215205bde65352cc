import { Recent } from '../common/recent.ts';
import { isLanefoldError } from '../errors.ts';
import type { Database } from '../postgres/pool.ts';
import { createThread } from '../store/log/read-thread.ts';
import { threadNotFound } from '../store/missing.ts';
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

  /** As `find`, and creates the thread where it does not exist. @throws LanefoldError `thread_not_found` of another tenant */
  findOrCreate<T>(db: Database, id: string, work: (threadId: string) => Promise<T>): Promise<T> {
    return this.find(id, async (threadId) => {
      try {
        return await work(threadId);
      } catch (error) {
        if (!isLanefoldError(error, 'thread_not_found')) throw error;
      }
      await createThread(db, { id: threadId, tenantId: db.tenant }).catch((error: unknown) => {
        // another process may have created it, or another tenant has it: then the work fails again
        if (!isLanefoldError(error, 'thread_exists')) throw error;
      });
      return work(threadId).catch((error: unknown) => {
        throw isLanefoldError(error, 'thread_not_found') ? threadNotFound(threadId) : error;
      });
    });
  }
}
