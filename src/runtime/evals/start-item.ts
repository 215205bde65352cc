import { isLanefoldError } from '../../errors.ts';
import { startItemRun } from '../../library/evals/start-item.ts';
import { isTransient } from '../../postgres/errors.ts';
import {
  findAnswer,
  settleItem,
  startItem,
  type CaseRow,
  type OpenEval,
  type TakenItem,
} from '../../store/eval/items.ts';
import { runsEnded } from '../../store/run/runs-ended.ts';
import { readRequest } from '../../store/run/read-request.ts';
import { answerKey } from './answer-key.ts';
import type { EvalDependencies } from './dependencies.ts';

/** Starts the run of an item that was taken, or finds that of an earlier eval which was asked the same. */
export async function startTaken(deps: EvalDependencies, open: OpenEval, item: TakenItem): Promise<void> {
  const { db, requests } = deps;
  const { id, tenant, spec } = open;
  const { case: source } = item;
  const fail = (status: 'failed' | 'erased', error: string | null) => settleItem(db, id, item, { status, error });
  if (!source) return fail('failed', 'The case was removed.');
  if (source.erased_at) return fail('erased', null);
  try {
    const earlier = spec.fresh ? undefined : await answeredBefore(deps, open, { ...item, case: source });
    if (earlier) return await startItem(db, id, item, { ...earlier, reused: true });
    const run = await startItemRun(requests.acceptingFor(tenant), id, spec, { ...item, case: source });
    await startItem(db, id, item, { ...run, reused: false });
  } catch (error) {
    // another worker takes it again
    if (isTransient(error) || (isLanefoldError(error) && error.status >= 500)) throw error;
    // erase_thread marks the item, unless the database is distributed
    if (isLanefoldError(error, 'thread_erased')) return fail('erased', null);
    if (!isLanefoldError(error)) deps.onError(error);
    await fail('failed', error instanceof Error ? error.message : String(error));
  }
}

/** The run of an earlier item that was asked the same of the same agent, if it is still there. */
async function answeredBefore(
  { db, requests }: EvalDependencies,
  { tenant, spec }: OpenEval,
  item: TakenItem & { case: CaseRow },
): Promise<{ threadId: string; id: string } | undefined> {
  const variant = spec.variants.find(({ name }) => name === item.variant)!;
  const agent = requests.acceptingFor(tenant).agents.under(item.agent, variant.version).get(item.agent);
  const { thread_id: threadId, run_id: runId } = item.case;
  const original = runId === null ? undefined : await readRequest(db, threadId, runId);
  const named =
    variant.version === undefined && original?.agent === item.agent && original.options?.['agent_model'] !== undefined;
  const model = variant.model ?? (named ? original.model : agent.model);
  const key = answerKey(spec, item, item.case, { version: agent.version.id, model });
  const found = await findAnswer(db, tenant, key);
  if (!found) return undefined;
  const [ended] = await runsEnded(db, [{ threadId: found.threadId, runId: found.id }]);
  return ended?.run ? found : undefined;
}
