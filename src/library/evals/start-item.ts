import { runIdOf, threadIdOf } from '../../checks/ids.ts';
import { omitUndefined } from '../../common/omit-undefined.ts';
import { contentIds } from '../../context/large-content.ts';
import type { JsonObject } from '../../context/message.ts';
import { LanefoldError } from '../../errors.ts';
import type { StoredEval, StoredVariant } from '../../store/eval/evals.ts';
import type { CaseRow, TakenItem } from '../../store/eval/items.ts';
import { readThread } from '../../store/log/read-thread.ts';
import { runNotFound } from '../../store/missing.ts';
import { readRequest, type StoredRequest } from '../../store/run/read-request.ts';
import type { RunOptions } from '../../store/run/run-options.ts';
import type { RunRef } from '../../store/run/run.ts';
import { enqueueRequest, requestHash } from '../runs/enqueue-request.ts';
import type { EnqueueDeps } from '../runs/enqueue.ts';
import { underVersion } from '../runs/original-request.ts';
import { fork } from '../threads/fork.ts';

/** Options of the original run that its items do not have: what it counted against, and where it came from. */
const notRepeated = [
  ...['active_lane', 'resumed_from', 'parent', 'retry_of', 'retry_of_thread', 'fresh_children', 'limit_keys'],
  ...[
    'version',
    'pinned',
    'on_failure',
    'priority',
    'max_cost',
    'max_duration_ms',
    'agent_model',
    'eval',
    'continues',
    'handoffs',
    'asked',
  ],
];
/** Options that only the agent of the original run may know. */
const ofTheAgent = [
  ...['tools', 'allowed_tools', 'settings', 'request_transformer', 'strategy_options', 'selection', 'prompt', 'output'],
  ...['takes_input', 'max_iterations', 'max_total_tokens'],
];

/** The run of an item, by ids that derive from eval and item. */
export function runOfItem(evalId: string, no: number, tenant: string): RunRef {
  const requestId = requestIdOf(evalId, no);
  return { threadId: threadIdOf(requestId, tenant), id: runIdOf(requestId, tenant) };
}

const requestIdOf = (evalId: string, no: number): string => `${evalId}:${no}`;

/**
 * Starts the run of an item on a fork of the original thread: as it was before the question of a run, or before the answer
 * of a call, which the run then gives. Repeating it returns the same run.
 *
 * @throws LanefoldError `thread_erased`, `thread_not_found`, `run_not_found`, `unknown_agent`, `unknown_model` and others
 */
export async function startItemRun(
  deps: EnqueueDeps,
  evalId: string,
  spec: StoredEval,
  item: TakenItem & { case: CaseRow },
): Promise<RunRef> {
  const { db, agents } = deps;
  const source = item.case;
  const variant = spec.variants.find(({ name }) => name === item.variant)!;
  const tenant = db.tenant;
  const run = runOfItem(evalId, item.no, tenant ?? 'default');
  const asks = source.kind === 'run';
  const original = await originalOf(deps, source);
  const { contents, body } = bodyOf(deps, { spec, variant, item, original, evalId });
  deps.models.check(body['model'] as string);
  const { system_prompt: systemPrompt } = variant;
  const at = { id: run.threadId, seq: source.seq, contextRef: source.context_ref };
  const metadata = { eval: evalId, eval_item: item.no, case: source.id };
  await fork(
    db,
    agents,
    source.thread_id,
    { ...at, metadata, ...omitUndefined({ systemPrompt }) },
    'library',
    contents,
  );
  const requestId = requestIdOf(evalId, item.no);
  // the ids are enough: a worker with another version of the agent repeats the request of one that died
  const hash = requestHash({ eval: evalId, item: item.no, asks });
  await enqueueRequest(deps, { threadId: run.threadId, body, id: run.id, requestId, hash, createThread: false });
  return run;
}

/** The request of the original run; undefined for an imported case, which has none. */
async function originalOf(
  { db }: EnqueueDeps,
  { thread_id: threadId, run_id: id }: CaseRow,
): Promise<StoredRequest | undefined> {
  if (id === null) return undefined;
  const found = await readRequest(db, threadId, id);
  if (!found) {
    await readThread(db, threadId);
    throw runNotFound(threadId, id);
  }
  // a run that was handed over is asked of the agent that it was asked of
  const { asked } = (found.options ?? {}) as RunOptions;
  return asked ? { ...found, ...asked, options: asked.options as unknown as JsonObject } : found;
}

interface Asked {
  spec: StoredEval;
  variant: StoredVariant;
  item: TakenItem & { case: CaseRow };
  original: StoredRequest | undefined;
  evalId: string;
}

function bodyOf({ agents: all }: EnqueueDeps, { spec, variant, item, original: found, evalId }: Asked) {
  const { version } = variant;
  const agents = all.under(item.agent, version);
  const original = version === undefined || item.agent !== found?.agent ? found : underVersion(agents, found, version);
  const agent = agents.get(item.agent);
  const given = { ...original?.options } as RunOptions & JsonObject;
  // of an imported case, everything is as the agent has it now
  const same = original?.agent === item.agent;
  const kept: JsonObject = { ...given };
  for (const key of same ? notRepeated : [...notRepeated, ...ofTheAgent]) delete kept[key];
  const model = variant.model ?? (same && given.agent_model !== undefined ? original.model : agent.model);
  const asks = item.case.kind === 'run';
  const options: JsonObject = {
    ...kept,
    ...(model === agent.model ? {} : { agent_model: agent.model }),
    ...(asks ? {} : { continues: true, max_iterations: 1 }),
    ...omitUndefined({
      ...{ version, context_policy: variant.context_policy, max_duration_ms: spec.max_duration_ms },
      max_cost: item.max_cost_micros === undefined ? undefined : item.max_cost_micros / 1_000_000,
    }),
    priority: spec.priority,
    ...(item.case.run_id === null ? {} : { retry_of: item.case.run_id, retry_of_thread: item.case.thread_id }),
    eval: { id: evalId, no: item.no },
  };
  const input = original?.input;
  if (asks && !input) {
    throw new LanefoldError('invalid_input', `Run ${item.case.run_id} has no stored input to repeat.`, {
      hint: 'Remove the case.',
    });
  }
  const strategy = same ? original.strategy : agent.strategy;
  const body: JsonObject = { agent: agent.name, strategy, model, context_ref: item.case.context_ref, options };
  if (asks) body['input'] = input!;
  return { body, contents: asks ? contentIds(input!) : [] };
}
