import { readCall } from '../../../base/checks/call-name.ts';
import { assertRef, assertRefs } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { checked } from '../../../base/operations/checked.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { briefly, dispatchFirst } from '../../queue/relay.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { endWait } from '../../../database/store/wait/end-wait.ts';
import { listWaits } from '../../../database/store/wait/list-waits.ts';
import { errorMessage } from '../../../agent/tools/outcome.ts';
import { waits } from './declaration.ts';
import { contentOf } from './payload.ts';
import type { ResolvedWait, Waits } from './types.ts';

export const waitsOf = (db: Database, queue: RunQueue): Waits =>
  checked<Waits>(waits, {
    list: async ({ limit = 50, ...filter } = {}) => listWaits(db, { ...filter, limit }),
    async resolve(run, call, { result, error, by, extraRefs: refs } = {}) {
      assertRef(run);
      const place = readCall(call);
      assertRefs(refs);
      assertStorable({ error, by, extraRefs: refs }, 'The resolution');
      if (result !== undefined && error !== undefined) {
        throw new LanefoldError('invalid_input', 'A call has either a result or an error.', {
          hint: 'Pass one of them.',
        });
      }
      const outcome =
        error === undefined
          ? { status: 'ok' as const, content: contentOf(result, 'The result') }
          : errorMessage({ type: 'overridden', message: error, retryable: false });
      const { status: ended, content } = outcome;
      const end = { status: 'overridden' as const, outcome: { status: ended, content, ...omitUndefined({ refs }) } };
      const given = { ...end, queuePrefix: queue.prefix, ...omitUndefined({ by }) };
      const answer = await endWait(db, { threadId: run.threadId, runId: run.id }, place, given);
      if (answer.job) await briefly(dispatchFirst(db, queue, [answer.job]));
      return { resolved: answer.ended, wait: answer.wait as ResolvedWait['wait'], status: answer.status };
    },
  });
