import { createHash } from 'node:crypto';
import { LanefoldError } from '../../../base/errors.ts';
import { newId } from '../../../base/checks/ids.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import type { SelectedRun } from '../../../database/store/run/select-runs.ts';
import { waitsOf } from '../waits/waits.ts';
import { decideCall } from './approvals.ts';
import { ended, overRuns, unended } from './bulk.ts';
import { cancel } from './cancel.ts';
import type { CheckpointDeps } from './checkpoints.ts';
import type { EnqueueDeps } from './enqueue-options.ts';
import { retry } from './repeat.ts';
import type { DeclaredRuns } from './types.ts';

type Many = Pick<DeclaredRuns, 'cancelMany' | 'retryMany' | 'releaseMany'>;

/** What is done to all runs that a filter selects. */
export const manyRuns = (deps: EnqueueDeps & CheckpointDeps): Many => ({
  async cancelMany(filter, { reason, ...options } = {}) {
    assertStorable(filter, 'The filter');
    return overRuns(deps.db, filter, options, {
      concerns: unended,
      async act(run) {
        const { accepted } = await cancel(deps, { threadId: run.threadId, id: run.id }, reason);
        return { outcome: accepted ? 'done' : 'unchanged' };
      },
    });
  },
  async retryMany(filter, { requestId = newId('req'), busy, freshChildren, caller, ...options } = {}) {
    assertStorable(filter, 'The filter');
    return overRuns(deps.db, filter, options, {
      concerns: ended,
      async act(run) {
        const request = { requestId: requestOf(requestId, run.id), busy, freshChildren, caller };
        const started = await retry(deps, { threadId: run.threadId, id: run.id }, omitUndefined(request));
        return { outcome: started.duplicate ? 'unchanged' : 'done', started: started.id };
      },
    });
  },
  async releaseMany(filter, { decision, reason, result, error, by, ...options } = {}) {
    assertStorable(filter, 'The filter');
    if (result !== undefined && error !== undefined)
      throw new LanefoldError('invalid_input', 'A call has either a result or an error.', {
        hint: 'Pass one of them.',
      });
    const waits = waitsOf(deps.db, deps.queue);
    return overRuns(deps.db, filter, options, {
      concerns: ['suspended'],
      async act({ threadId, id, waits: open }, before) {
        const run = { threadId, id };
        let released = false;
        for (const { kind, call } of open.filter((wait) => wait.since < before)) {
          if (kind === 'approval' && decision !== undefined) {
            const word = decision === 'approve' ? 'approved' : 'denied';
            const { duplicate } = await decideCall(deps, run, call, word, omitUndefined({ by, reason }));
            released ||= !duplicate;
          } else if (kind === 'event' || kind === 'time') {
            const { resolved } = await waits.resolve(run, call, omitUndefined({ result, error, by }));
            released ||= resolved;
          }
        }
        return { outcome: released ? 'done' : 'unchanged' };
      },
    });
  },
});

/** The request id of one run: repeating the request for many runs repeats the request for each. */
const requestOf = (requestId: string, runId: SelectedRun['id']): string =>
  `bulk-${createHash('sha256').update(`${requestId} ${runId}`).digest('hex').slice(0, 32)}`;
