import { isLanefoldError } from '../../errors.ts';
import { dropEvalThread, erasedItems } from '../../store/eval/items.ts';
import { unlessGone } from '../../store/missing.ts';
import type { EvalDependencies } from './dependencies.ts';

const batch = 100;

/** Erases the threads of items whose case was erased: they began as its thread was. */
export async function eraseItems({ db, requests, onError }: EvalDependencies): Promise<void> {
  for (const { evalId, no, tenant, threadId, runId, judgeThreadId } of await erasedItems(db, batch)) {
    try {
      if (runId !== null) await requests.cancel(tenant, { threadId, id: runId }).catch(unlessGone);
      await requests.erase(tenant, threadId).catch(unlessGone);
      if (judgeThreadId !== null) await requests.erase(tenant, judgeThreadId).catch(unlessGone);
      await dropEvalThread(db, evalId, no);
    } catch (error) {
      // its run is about to be cancelled: the next look erases it
      if (!isLanefoldError(error, 'thread_busy')) onError(error);
    }
  }
}
