import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import { toSnakeCase } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { contentIds } from '../../../agent/context/large-content.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { StoredEval, StoredVariant } from '../store/evals.ts';
import type { CaseRow, TakenItem } from '../store/items.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import { readRequest, type StoredRequest } from '../../../database/store/run/read-request.ts';
import { optionsWith } from '../../../agent/definition/options.ts';
import { chainOf, givenModelOption, readChain, storedModels } from '../../../agent/models/model-chain.ts';
import type { ReadyAgent } from '../../../agent/definition/registry.ts';
import { optionsInEval, strategyPart, type RunOptions } from '../../../agent/definition/run-options.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { idsOf } from '../../../database/store/tenant/tenant-settings.ts';
import { enqueueRequest, requestHash } from '../../../runs/operations/runs/enqueue-request.ts';
import { decidedAnew } from '../../../runs/operations/runs/repeated-request.ts';
import { fork } from '../../../runs/operations/threads/create.ts';

/** The run of an item, by ids that derive from eval and item. */
export async function runOfItem(db: Database, evalId: string, no: number): Promise<RunRef> {
  return (await idsOf(db)).own(requestIdOf(evalId, no));
}

const requestIdOf = (evalId: string, no: number): string => `${evalId}:${no}`;

/** What the run of an item is asked. */
export interface ItemRequest {
  body: JsonObject & Pick<StoredRequest, 'agent' | 'strategy' | 'model' | 'options'>;
  contents: string[];
  systemPrompt: string | null | undefined;
  /** The id of the version that this process has of the agent. */
  version: string;
}

/**
 * The request of the run of an item.
 *
 * @throws LanefoldError `thread_erased`, `thread_not_found`, `run_not_found`, `unknown_agent`, `unknown_model` and others
 */
export async function requestOfItem(
  deps: EnqueueDeps,
  evalId: string,
  spec: StoredEval,
  item: TakenItem & { case: CaseRow },
): Promise<ItemRequest> {
  const variant = spec.variants.find(({ name }) => name === item.variant)!;
  const original = await originalOf(deps, item.case, item.agent);
  const request = bodyOf(deps, { spec, variant, item, original, evalId });
  const { model, options } = request.body;
  for (const each of chainOf(model, (options as RunOptions).fallback).models) deps.models.check(each);
  return { ...request, systemPrompt: variant.system_prompt };
}

/**
 * Starts the run of an item on a fork of the original thread: as it was before the question of a run, or before the answer
 * of a call, which the run then gives. Repeating it returns the same run.
 *
 * @throws LanefoldError `thread_erased`, `thread_not_found` and others
 */
export async function startItemRun(
  deps: EnqueueDeps,
  evalId: string,
  item: TakenItem & { case: CaseRow },
  { body, contents, systemPrompt }: ItemRequest,
): Promise<RunRef> {
  const { db, agents } = deps;
  const source = item.case;
  const run = await runOfItem(db, evalId, item.no);
  const at = { id: run.threadId, atSeq: source.seq, contextRef: source.context_ref };
  const metadata = { eval: evalId, eval_item: item.no, case: source.id };
  const forked = { ...at, metadata, ...omitUndefined({ systemPrompt }) };
  await fork(db, agents, source.thread_id, forked, contents);
  const requestId = requestIdOf(evalId, item.no);
  // the ids are enough: a worker with another version of the agent repeats the request of one that died
  const hash = requestHash({ eval: evalId, item: item.no, asks: source.kind === 'run' });
  await enqueueRequest(deps, { threadId: run.threadId, body, id: run.id, requestId, hash, createThread: false });
  return run;
}

/** The request of the original run. An imported case has none: all but its messages is as the agent has it now. */
async function originalOf({ db }: EnqueueDeps, source: CaseRow, agent: string): Promise<StoredRequest> {
  const { thread_id: threadId, run_id: id, context_ref: contextRef } = source;
  if (id === null) {
    const none = { asked_in: contextRef, options: null, input: null, user_seq: null, ended: true };
    return { agent, model: '', strategy: '', context_ref: contextRef, ...none };
  }
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
  original: StoredRequest;
  evalId: string;
}

function bodyOf({ agents: all }: EnqueueDeps, { spec, variant, item, original, evalId }: Asked) {
  const { version } = variant;
  const agents = all.under(item.agent, version);
  const agent = agents.get(item.agent);
  const given = (original.options ?? {}) as RunOptions & JsonObject;
  const same = item.agent === original.agent;
  // what the request named stays, as long as the variant is that of today's agent
  const named = same && version === undefined ? given : {};
  const decided = decidedAnew(agents, { ...original, agent: item.agent });
  const ofStrategy = named.named_strategy ? original : decided;
  const ofRun = named.agent_model === undefined ? agent.chain : chainOf(original.model, named.fallback);
  const chain = variant.model === undefined ? ofRun : readChain(givenModelOption(variant.model), 'The variant');
  const { model, options: ofModels } = storedModels(chain, agent.model);
  const asks = item.case.kind === 'run';
  const options: JsonObject = {
    ...optionsInEval(given, same),
    ...strategyPart(ofStrategy.options),
    ...(ofModels as JsonObject),
    ...(asks ? {} : { continues: true, max_iterations: 1 }),
    ...omitUndefined({ version, context_policy: variant.context_policy }),
    ...boundsOf(spec, agent),
    priority: spec.priority,
    ...(item.case.run_id === null ? {} : { retry_of: item.case.run_id, retry_of_thread: item.case.thread_id }),
    eval: { id: evalId, no: item.no },
  };
  if (asks && !original.input) {
    throw new LanefoldError('invalid_input', `Run ${item.case.run_id} has no stored input to repeat.`, {
      hint: 'Remove the case.',
    });
  }
  const { strategy } = ofStrategy;
  const body = { agent: agent.name, strategy, model, context_ref: item.case.context_ref, options };
  return {
    body: asks ? { ...body, input: original.input! } : body,
    contents: asks ? contentIds(original.input!) : [],
    version: agent.version.id,
  };
}

/** What the eval bounds, unless the bound of the agent is lower. */
const boundsOf = (spec: StoredEval, agent: ReadyAgent): JsonObject =>
  Object.fromEntries(
    optionsWith({ evals: 'bound' }).flatMap((name) => {
      const stored = toSnakeCase(name);
      const bound = spec[stored];
      return bound === undefined ? [] : [[stored, Math.min(bound, agent[name] ?? bound)]];
    }),
  );
