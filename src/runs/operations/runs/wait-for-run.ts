import { assertRef } from '../../../base/checks/ids.ts';
import { refuseUnknownKeys } from '../../../base/checks/unknown-keys.ts';
import { assertWait } from '../../../base/checks/values.ts';
import { deadline } from '../../../base/common/timer.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { type Logger, seldom } from '../../../base/log/logger.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import type { Run, RunRef } from '../../../database/store/run/run.ts';
import type { UnattendedRuns } from '../../fleet/unattended.ts';
import type { RunWaiter } from './waiter.ts';

export interface WaitOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
  /**
   * Called once per reason if no worker can take the run: none is alive, or no live worker knows its agent or strategy.
   * The wait continues. Must not throw. Default: logs a line, for each agent and reason at most one in ten seconds.
   */
  onUnattended?: (unattended: UnattendedRuns) => void;
}

/** Makes `Runs.wait`. */
export function waitingForRuns({ waiter, log }: { waiter: RunWaiter; log: Logger }) {
  const isDue = seldom();
  const logUnattended = ({ threadId, runId, agent, reason, message }: UnattendedRuns) => {
    // thousands of runs may wait for the same agent
    if (!isDue(`${reason} ${agent}`)) return;
    // an error, like the line of a worker that lacks the agent: the run waits until a suitable worker is started
    log.error({ component: 'runs', thread_id: threadId, run_id: runId, agent, reason }, message);
  };
  return async (run: RunRef, options: WaitOptions = {}): Promise<Run<never>> => {
    refuseUnknownKeys('runs.wait', options, { timeoutMs: true, signal: true, onUnattended: true });
    const { timeoutMs, signal, onUnattended = logUnattended } = options;
    assertRef(run);
    assertWait(timeoutMs, 'timeoutMs');
    const timeout = timeoutMs === undefined ? undefined : deadline(timeoutMs);
    const signals = [timeout?.signal, signal].filter((s) => s !== undefined);
    let ended: Run | undefined;
    try {
      ended = await waiter.ended(run, onUnattended, signals.length > 0 ? AbortSignal.any(signals) : undefined);
    } catch (error) {
      if (!timeout?.signal.aborted) throw error;
      throw new LanefoldError('wait_timeout', `Run ${run.id} did not end within ${timeoutMs} ms.`, {
        hint: 'The run continues; wait again or read it later.',
      });
    } finally {
      timeout?.cancel();
    }
    if (!ended) throw runNotFound(run.threadId, run.id);
    return ended as Run<never>;
  };
}
