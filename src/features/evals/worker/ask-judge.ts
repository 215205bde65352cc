import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Score } from '../item.ts';
import type { Expected } from '../types.ts';
import { judgeOutput, readJudgement } from '../scorers/judge.ts';
import { enqueue } from '../../../runs/operations/runs/enqueue.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { idsOf } from '../../../database/store/tenant/tenant-settings.ts';
import { readRun } from '../../../database/store/run/read-run.ts';
import { requestHash } from '../../../runs/operations/runs/enqueue-request.ts';
import { readConfig } from '../../../database/store/context/read-config.ts';
import type { StoredEval } from '../store/evals.ts';
import type { CaseRow, TakenItem } from '../store/items.ts';
import type { StoredRequest } from '../../../database/store/run/read-request.ts';
import { isLanefoldError, type LanefoldError } from '../../../base/errors.ts';
import { isTransient } from '../../../database/postgres/errors.ts';
import type { ScoredCase, ScorerInput } from '../scorers/scorer.ts';
import { priced } from '../../../runs/operations/runs/cost.ts';
import type { RunAnswer } from '../store/read-answer.ts';
import type { Run } from '../../../database/store/run/run.ts';

/** The score of a judge, or its run to wait for. */
export type Asked = { score: Score } | { waits: { threadId: string; id: string } };

/** Starts the run of a judge. A judge that cannot be asked is a score with an `error`. */
export async function askJudge(
  accepting: EnqueueDeps,
  by: { agent: string; model?: string },
  { prompt, requestId, priority }: { prompt: string; requestId: string; priority: number },
): Promise<Asked> {
  const request = { agent: by.agent, input: prompt, requestId, priority, output: judgeOutput, createThread: true };
  try {
    const { threadId } = (await idsOf(accepting.db)).own(requestId);
    return {
      waits: await enqueue(accepting, { ...request, threadId, ...omitUndefined({ model: by.model as never }) }),
    };
  } catch (error) {
    if (!isPermanent(error)) throw error;
    return { score: judged({ score: null, reason: null, error: `The judge could not be asked: ${error.message}` }) };
  }
}

/** The score of a judge whose run has ended. */
export async function readJudge(db: Database, at: { threadId: string; runId: string }): Promise<Score> {
  const run = await readRun(db, at.threadId, at.runId);
  if (run?.status === 'completed' && run.result !== null)
    return judged(readJudgement(run.result as string | JsonObject));
  const why = run?.error?.message ?? run?.status ?? 'it is gone';
  return judged({ score: null, reason: null, error: `The judge did not answer: ${why}.` });
}

const judged = (given: Pick<Score, 'score' | 'reason' | 'error'>): Score => ({
  scorer: 'judge',
  version: null,
  ...given,
});

/** What an item adds that does not change its answer: where it comes from, when it runs, and what it may cost. */
const noMatter = ['eval', 'retry_of', 'retry_of_thread', 'version', 'priority', 'max_cost'];

/**
 * Hash of everything that the answer to an item depends on: what was sent first, what the run was asked with, the configuration of
 * the thread, and what tools return.
 *
 * @param request of the run of the item
 * @param version the id of the agent's version that answers
 */
export async function answerKey(
  db: Database,
  { variants, tools, stubs }: StoredEval,
  item: Pick<TakenItem, 'variant' | 'repeat'>,
  source: CaseRow,
  { agent, strategy, model, options: given }: Pick<StoredRequest, 'agent' | 'strategy' | 'model' | 'options'>,
  version: string,
): Promise<string> {
  const { system_prompt: prompt } = variants.find(({ name }) => name === item.variant)!;
  const { kind, context_hash: context, thread_id: thread, run_id: run } = source;
  // the context has the prompt of the lane
  const { system_prompt: _, ...config } = await readConfig(db, thread, source.context_ref, source.seq);
  const options: JsonObject = { ...given };
  for (const key of noMatter) delete options[key];
  return requestHash({
    kind,
    context,
    repeat: item.repeat,
    prompt,
    config,
    agent,
    version,
    strategy,
    model,
    options,
    // the answer to a call has no tool results of its own
    ...(kind === 'call' ? {} : { tools, stubs, record: tools === 'recorded' ? [thread, run] : undefined }),
  });
}

/** Whether a request was refused for good: it would be refused later too. */
export const isPermanent = (error: unknown): error is LanefoldError =>
  isLanefoldError(error) &&
  error.status < 500 &&
  !isTransient(error) &&
  !isLanefoldError(error, 'rate_limited') &&
  !isLanefoldError(error, 'queue_full');

/** What a run took. */
export interface Used {
  duration_ms: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  estimated_tokens: number | null;
  /** Null if the price is unknown. */
  cost_micros: number | null;
}

/** @param reused it was paid for before */
export async function usedBy(counting: Parameters<typeof priced>[0], run: Run, reused = false): Promise<Used> {
  const { cost, unpricedTokens } = await priced(counting, run);
  const { input_tokens: sent = 0, output_tokens: received = 0 } = run.usage ?? {};
  const unpriced = sent + received > 0 && (cost === null || unpricedTokens > 0);
  const micros = unpriced ? null : Math.round((cost ?? 0) * 1_000_000);
  return {
    duration_ms: run.durationMs,
    input_tokens: run.usage?.input_tokens ?? null,
    output_tokens: run.usage?.output_tokens ?? null,
    estimated_tokens: run.usage?.['estimated_tokens'] ?? null,
    cost_micros: reused ? 0 : micros,
  };
}

/** @param of null: the run was not asked for an eval */
export const scorerInput = (
  run: Pick<Run, 'threadId' | 'id' | 'agent' | 'model'>,
  answer: RunAnswer,
  used: Used,
  expected: Expected,
  of: ScoredCase | null,
): Omit<ScorerInput, 'signal'> => ({
  answer: answer.text,
  toolCalls: answer.calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
  messages: answer.messages,
  expected,
  case: of,
  run: {
    threadId: run.threadId,
    id: run.id,
    agent: run.agent,
    model: run.model,
    durationMs: used.duration_ms,
    inputTokens: used.input_tokens,
    outputTokens: used.output_tokens,
    costMicros: used.cost_micros,
  },
});
