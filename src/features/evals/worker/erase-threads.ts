import { isLanefoldError } from '../../../base/errors.ts';
import { dropThread, takeThreads } from '../store/items.ts';
import { unlessGone } from '../../../database/store/missing.ts';
import type { EvalDependencies } from './dependencies.ts';

const limit = 100;
/** After this, a thread that could not be erased is tried again. */
const holdMs = 10_000;

/** Erases threads of evals that no item needs any more, and cancels their runs. */
export async function eraseThreads({ db, requests, onError }: EvalDependencies): Promise<void> {
  for (const thread of await takeThreads(db, { limit, holdMs })) {
    const { tenant, thread_id: threadId, run_id: id } = thread;
    try {
      await requests.cancel(tenant, { threadId, id }).catch(unlessGone);
      await requests.erase(tenant, threadId).catch(unlessGone);
      await dropThread(db, thread);
    } catch (error) {
      // its run has yet to notice that it was cancelled
      if (!isLanefoldError(error, 'thread_busy')) onError(error);
    }
  }
}
