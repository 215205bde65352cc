import {
  openEvals,
  startedItems,
  takeItems,
  type OpenEval,
  type StartedItem,
  findAnswer,
  planRun,
  reserveItem,
  settleItem,
  startItem,
  type CaseRow,
  type TakenItem,
} from '../store/items.ts';
import { runsEnded } from '../../../database/store/run/runs-ended.ts';
import type { EvalDependencies } from './dependencies.ts';
import { eraseThreads } from './erase-threads.ts';
import type { Scoring } from './scoring.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import { requestOfItem, runOfItem, startItemRun, type ItemRequest } from '../operations/start-item.ts';
import { isTransient } from '../../../database/postgres/errors.ts';
import { answerKey } from './answer-key.ts';
import { isPermanent } from './ask-judge.ts';
import { expectedCost } from './budget.ts';

/** How long a worker has to start the run of an item that it took, before another one does. */
const startMs = 10_000;
const batch = 200;

/** Starts what waits, and scores what has ended. Items are started again as long as some have ended. */
export async function runEvals(deps: EvalDependencies, scoring: Scoring, stopping: () => boolean): Promise<void> {
  await eraseThreads(deps);
  for (const open of await openEvals(deps.db, deps.queuePrefix)) {
    if (stopping()) return;
    await runEval(deps, open, scoring, stopping).catch(deps.onError);
  }
}

async function runEval(
  deps: EvalDependencies,
  open: OpenEval,
  scoring: Scoring,
  stopping: () => boolean,
): Promise<void> {
  await scoreEnded(deps, open, scoring, stopping);
  // items that are skipped make room for others; those that wait for money would be taken again
  for (let goesOn = true; goesOn && !stopping();) {
    const taken = await takeItems(deps.db, open.id, deps.agents, startMs);
    const started = await Promise.allSettled(taken.map((item) => startTaken(deps, open, item)));
    for (const one of started) if (one.status === 'rejected') deps.onError(one.reason);
    goesOn = taken.length > 0 && started.every((one) => one.status === 'fulfilled' && one.value);
  }
}

async function scoreEnded(
  { db, agents }: EvalDependencies,
  open: OpenEval,
  scoring: Scoring,
  stopping: () => boolean,
): Promise<void> {
  for (let after = 0; !stopping();) {
    const items = await startedItems(db, open, agents, { after, limit: batch });
    const runs = items.map(awaited).filter((run) => run !== undefined);
    const ended = new Set((await runsEnded(db, runs)).map(keyOf));
    for (const item of items) {
      const run = awaited(item);
      // at most so many at once: others are for the next look, or for other workers
      if ((!run || ended.has(keyOf(run))) && !(await scoring.begin(open, item))) return;
    }
    if (items.length < batch) return;
    after = items.at(-1)!.no;
  }
}

/** The run that an item waits for. */
const awaited = ({ status, judge, threadId, runId }: StartedItem) =>
  judge ?? (status === 'running' ? { threadId, runId } : undefined);

const keyOf = ({ threadId, runId }: { threadId: string; runId: string }): string => `${threadId} ${runId}`;

/**
 * Starts the run of an item that was taken, or finds that of an earlier eval which was asked the same. Returns false if the
 * item waits until the budget of the eval pays for it.
 */
async function startTaken(deps: EvalDependencies, open: OpenEval, item: TakenItem): Promise<boolean> {
  const { db, requests } = deps;
  const { id, tenant, spec } = open;
  const { case: source } = item;
  const accepting = requests.acceptingFor(tenant);
  const own = await runOfItem(accepting.db, id, item.no);
  const fail = async (status: 'failed' | 'skipped' | 'erased', error: string | null) => {
    await settleItem(db, id, item, { status, error, cost_micros: 0 });
    // this attempt may have made a thread without a run, and one of a dead worker a run
    await startItem(db, open, item, { ...own, reused: false });
    return true;
  };
  if (!source) return fail('failed', 'The case was removed.');
  if (source.erased_at) return fail('erased', null);
  try {
    const request = await requestOfItem(accepting, id, spec, { ...item, case: source });
    const earlier = spec.fresh ? undefined : await answeredBefore(deps, open, { ...item, case: source }, request);
    if (!earlier && spec.max_cost !== undefined) {
      const micros = await expectedCost(accepting, source, request);
      if (micros === undefined)
        return await fail(
          'skipped',
          `The budget of the eval cannot pay for ${request.body.model}: its price is unknown.`,
        );
      const reserved = await reserveItem(db, id, item, micros);
      if (reserved !== 'reserved') return reserved !== 'waits';
    }
    if (!earlier && !(await planRun(db, open, item, own))) return true;
    const run = earlier ?? (await startItemRun(accepting, id, { ...item, case: source }, request));
    const noted = await startItem(db, open, item, { ...run, reused: earlier !== undefined });
    if (!noted) await eraseThreads(deps);
    return true;
  } catch (error) {
    // another worker takes it again
    if (isLanefoldError(error) ? !isPermanent(error) : isTransient(error)) throw error;
    if (!isLanefoldError(error)) deps.onError(error);
    // erase_thread marks the item, unless the database is distributed
    if (isLanefoldError(error, 'thread_erased')) return fail('erased', null);
    return fail('failed', error instanceof Error ? error.message : String(error));
  }
}

/** The run of an earlier item that was asked the same of the same agent, if it is still there. */
async function answeredBefore(
  { db }: EvalDependencies,
  { tenant, spec }: OpenEval,
  item: TakenItem & { case: CaseRow },
  { body, version }: ItemRequest,
): Promise<{ threadId: string; id: string } | undefined> {
  const found = await findAnswer(db, tenant, await answerKey(db, spec, item, item.case, body, version));
  if (!found) return undefined;
  const [ended] = await runsEnded(db, [{ threadId: found.threadId, runId: found.id }]);
  return ended?.run ? found : undefined;
}
