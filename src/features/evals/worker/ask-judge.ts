import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Score } from '../item.ts';
import { judgeOutput, readJudgement } from '../scorers/judge.ts';
import { enqueue } from '../../../runs/operations/runs/enqueue.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { idsOf } from '../../../database/store/tenant/derived-ids.ts';
import { readRun } from '../../../database/store/run/read-run.ts';
import { isPermanent } from './is-permanent.ts';

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
