import { isLanefoldError } from '../../errors.ts';
import type { Random } from '../random.ts';
import type { Client } from './client.ts';
import { persist } from './persist.ts';
import { delay } from '../../common/timer.ts';

/**
 * People who decide on every call that waits for approval. For some calls two of them decide at the same time, and
 * disagree: the first decision counts.
 */
export async function decide({ lanefold, signal }: Client, random: Random): Promise<void> {
  const { approvals, runs } = lanefold;
  while (!signal.aborted) {
    const { data } = await persist(() => approvals.list({ limit: 50 }), signal);
    const decisions = data.flatMap(({ threadId, runId, call }) => {
      const run = { threadId, id: runId };
      const approve = () => runs.approve(run, call, { by: 'ann' });
      const deny = () => runs.deny(run, call, { by: 'bob', reason: 'No.' });
      if (random.chance(0.3)) return [approve, deny];
      return [random.chance(0.7) ? approve : deny];
    });
    await Promise.all(decisions.map((decision) => persist(decision, signal).catch(ignoreLate)));
    await delay(random.int(50, 300), { signal }).catch(() => {});
  }
}

/** Another person decided first, or the run has ended or been cancelled meanwhile. */
function ignoreLate(error: unknown): void {
  if (!isLanefoldError(error, 'already_decided') && !isLanefoldError(error, 'not_awaiting_approval')) throw error;
}
