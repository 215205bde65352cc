import type { RunStatus } from '../../../database/store/run/types.ts';
import { readCall } from '../../../base/checks/unknown-keys.ts';
import { assertId, assertRef, assertRefs } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/text.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { briefly, dispatchFirst } from '../../queue/dispatch.ts';
import type { RunQueue } from '../../queue/queue.ts';
import type { ListPage } from '../../../database/store/page.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { endWait, type WaitStatus } from '../../../database/store/wait/end-wait.ts';
import { listWaits, type PendingWait, type WaitFilter } from '../../../database/store/wait/list-waits.ts';
import { errorMessage } from '../../../agent/tools/outcome.ts';
import { contentOf } from './payload.ts';

export interface ListWaitsOptions extends WaitFilter {
  after?: string | undefined;
  limit?: number;
}

export interface ReleaseOptions {
  /** The result of the call: text or JSON; default null. */
  result?: unknown;
  /** Instead of a result: the call fails with this message, which the model reads. */
  error?: string;
  /** Who releases it, for the log. */
  by?: string;
  /** Kept in the `refs` of the result's message. */
  extraRefs?: JsonObject;
}

export interface ReleasedWait {
  /** False: the wait had ended before, and nothing changed. */
  released: boolean;
  /** How the wait ended. */
  wait: Exclude<WaitStatus, 'open'>;
  /** The status of the run: `suspended` while other calls wait. */
  status: RunStatus;
}

export interface Waits {
  /** Calls that wait for an event, a time or another run, oldest first. See `approvals.list` for the others. */
  list(options?: ListWaitsOptions): Promise<ListPage<PendingWait>>;
  /**
   * Ends a wait by hand. A run that the call waited for is cancelled.
   *
   * @param call its name, such as `1.0`: `call` in `waits` of the run
   * @throws LanefoldError `run_not_found`, `tool_call_not_found`, `invalid_input`
   */
  release(run: RunRef, call: string, options?: ReleaseOptions): Promise<ReleasedWait>;
}

export const waitsOf = (db: Database, queue: RunQueue): Waits => ({
  async list({ limit = 50, ...filter } = {}) {
    if (filter.threadId !== undefined) assertId(filter.threadId, 'The thread id');
    if (filter.event !== undefined) assertId(filter.event, 'The event');
    return listWaits(db, { ...filter, limit });
  },
  async release(run, call, { result, error, by, extraRefs: refs } = {}) {
    assertRef(run);
    const place = readCall(call);
    assertRefs(refs);
    assertStorable({ error, by, extraRefs: refs }, 'The release');
    if (result !== undefined && error !== undefined) {
      throw new LanefoldError('invalid_input', 'A call has either a result or an error.', {
        hint: 'Pass one of them.',
      });
    }
    const outcome =
      error === undefined
        ? { status: 'ok' as const, content: contentOf(result, 'The result') }
        : errorMessage({ type: 'released', message: error, retryable: false });
    const { status: ended, content } = outcome;
    const end = { status: 'released' as const, outcome: { status: ended, content, ...omitUndefined({ refs }) } };
    const given = { ...end, queuePrefix: queue.prefix, ...omitUndefined({ by }) };
    const answer = await endWait(db, { threadId: run.threadId, runId: run.id }, place, given);
    if (answer.job) await briefly(dispatchFirst(db, queue, [answer.job]));
    return { released: answer.ended, wait: answer.wait as ReleasedWait['wait'], status: answer.status };
  },
});
