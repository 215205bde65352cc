import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import { checkOptions } from '../../../base/operations/checked.ts';
import { cancelEval, listEvals, readEval, removeEval, rescoreEval } from '../store/evals.ts';
import { allPages } from './all-pages.ts';
import { EvalWaitOptions } from './declaration.ts';
import type { EvalEnds } from './methods.ts';
import type { ListedEval, ListedEvalItem } from '../store/types.ts';
import type { Evals } from './types.ts';
import { assertId, defaultTenant } from '../../../base/checks/ids.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { reportOf } from '../report/report-of.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readItems } from '../store/items.ts';
import { unlessGone } from '../../../database/store/missing.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { otherTenant } from '../../../runs/operations/access/tenant-scope.ts';
import { evalNotFound } from '../invalid.ts';
import { startEvalOf } from './start-eval.ts';
import { toListed } from './listed.ts';
import { delay } from '../../../base/common/timer.ts';

interface EvalsDeps {
  db: Database;
  /** The connections of the process: connections of one tenant see no workers. */
  all: Database;
  /** The private queue whose worker runs its evals; null: any worker of a shared queue does. */
  queuePrefix: string | null;
  /** The dependencies of requests for a tenant. */
  acceptingFor(tenant: string): EnqueueDeps;
  cancelRun(run: RunRef): Promise<unknown>;
}

const operator = 'operator';
const shortestPauseMs = 50;
const longestPauseMs = 1_000;

export function evalsOf({ db, all, queuePrefix, acceptingFor, cancelRun }: EvalsDeps): Evals & EvalEnds {
  const get = async (id: string): Promise<ListedEval> => {
    assertId(id, 'The eval id');
    const found = await readEval(db, id);
    if (!found) throw evalNotFound(id);
    const [listed] = await toListed(db, all, [found]);
    return listed!;
  };
  const allItems = async (id: string): Promise<ListedEvalItem[]> => {
    await get(id);
    return allPages((page) => readItems(db, id, page));
  };
  return {
    async run(definition, { tenant = db.tenant ?? defaultTenant, by = operator, from = 'library' } = {}) {
      assertId(tenant, 'The tenant id');
      if (db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
      return get(await startEvalOf(acceptingFor(tenant), tenant, definition, { by, from, queuePrefix }));
    },
    get,
    async list({ after, limit = 50 } = {}) {
      const { data, nextAfter } = await listEvals(db, { after, limit });
      return { data: await toListed(db, all, data), nextAfter };
    },
    async items(id, { after = 0, limit = 100, caseId } = {}) {
      await get(id);
      return readItems(db, id, { after, limit, caseId });
    },
    report: async (id, options = {}) => reportOf(await allItems(id), options),
    async wait(id, options = {}) {
      checkOptions('evals.wait', EvalWaitOptions, options);
      const { timeoutMs = 600_000, signal } = options;
      const until = performance.now() + timeoutMs;
      for (let ms = shortestPauseMs; ; ms = Math.min(ms * 1.5, longestPauseMs)) {
        const found = await get(id);
        if (found.status !== 'running') return found;
        if (performance.now() >= until) {
          throw new LanefoldError('wait_timeout', `Eval ${id} did not end within ${timeoutMs} ms.`, {
            hint:
              found.unattended.length > 0
                ? `No live worker has ${found.unattended.join(', ')}. Start one that does, or cancel the eval.`
                : 'It continues while workers have its agents; wait again, or look at its items.',
            details: { unattended: found.unattended },
          });
        }
        await delay(ms, signal ? { signal } : {});
      }
    },
    async cancel(id, { by = operator } = {}) {
      await get(id);
      const cancelled = await cancelEval(db, id, by);
      if (!cancelled)
        throw new LanefoldError('eval_ended', `Eval ${id} has ended.`, {
          hint: 'Nothing was written: see its report.',
        });
      for (const { thread_id: threadId, run_id: runId } of cancelled.runs)
        await cancelRun({ threadId, id: runId }).catch(unlessGone);
      return get(id);
    },
    async rescore(id, { by = operator } = {}) {
      await get(id);
      if ((await rescoreEval(db, id, by, queuePrefix)) === undefined) throw stillRunning(id);
      return get(id);
    },
    async remove(id, { by = operator } = {}) {
      await get(id);
      if (!(await removeEval(db, id, by))) throw stillRunning(id);
    },
  };
}

const stillRunning = (id: string): LanefoldError =>
  new LanefoldError('eval_running', `Eval ${id} is still running.`, {
    hint: 'Nothing was written. Wait for its end, or cancel it first.',
  });
