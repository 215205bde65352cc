import { givenModelOption } from '../../../agent/models/model-chain.ts';
import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { readModelOfAnswer } from '../store/read-answer.ts';
import type { Score } from '../store/types.ts';
import { judgeOutput, judgePrompt, readJudgement } from '../scorers/judge.ts';
import type { ScorerInput } from '../scorers/scorer.ts';
import { enqueue } from '../../../runs/operations/runs/enqueue.ts';
import { requestHash } from '../../../runs/operations/runs/enqueue-request.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { idsOf } from '../../../database/store/tenant/tenant-settings.ts';
import { readRun } from '../../../database/store/run/read-run.ts';
import { isLanefoldError, type LanefoldError } from '../../../base/errors.ts';
import { isTransient } from '../../../database/postgres/errors.ts';
import type { OpenEval, StartedItem } from '../store/items.ts';
import type { EvalDependencies } from './dependencies.ts';

/** The score of a judge, or its run to wait for. */
export type Asked = { score: Score } | { waits: { threadId: string; id: string } };

/** Starts the run of a judge. A judge that cannot be asked is a score with an `error`. */
export async function askJudge(
  accepting: EnqueueDeps,
  by: { agent: string; model?: Json },
  { prompt, requestId, priority }: { prompt: string; requestId: string; priority: number },
): Promise<Asked> {
  const request = { agent: by.agent, input: prompt, requestId, priority, output: judgeOutput, createThread: true };
  try {
    const { threadId } = (await idsOf(accepting.db)).own(requestId);
    return {
      waits: await enqueue(accepting, {
        ...request,
        threadId,
        ...(by.model === undefined ? {} : { model: givenModelOption(by.model) }),
      }),
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
    return {
      ...judged(readJudgement(run.result as string | JsonObject)),
      // the thread of a judge may be erased long before its score
      model: (await readModelOfAnswer(db, at.threadId, at.runId)) ?? run.model,
    };
  const why = run?.error?.message ?? run?.status ?? 'it is gone';
  return judged({ score: null, reason: null, error: `The judge did not answer: ${why}.` });
}

const judged = (given: Pick<Score, 'score' | 'reason' | 'error'>): Score => ({
  scorer: 'judge',
  version: null,
  ...given,
});

/** The score of the judge, or its run to wait for; undefined without a judge or a rubric. */
export async function judgeItem(
  { db, requests }: EvalDependencies,
  open: OpenEval,
  item: StartedItem,
  input: Omit<ScorerInput, 'signal'>,
): Promise<Asked | undefined> {
  const { judge: by, priority } = open.spec;
  const { rubric, scorer: only } = input.expected;
  if (!by || rubric === undefined || (only !== undefined && only !== 'judge')) return undefined;
  if (item.judge) return { score: await readJudge(db, item.judge) };
  const prompt = judgePrompt(input);
  // the id covers the prompt, so a case whose expectation has changed gets a new judgement
  const requestId = `${open.id}:${item.no}:judge:${requestHash(prompt).slice(0, 12)}`;
  return askJudge(requests.acceptingFor(open.tenant), by, { prompt, requestId, priority });
}

/** Whether a request was refused for good: it would be refused later too. */
export const isPermanent = (error: unknown): error is LanefoldError =>
  isLanefoldError(error) &&
  error.status < 500 &&
  !isTransient(error) &&
  !isLanefoldError(error, 'rate_limited') &&
  !isLanefoldError(error, 'queue_full');
