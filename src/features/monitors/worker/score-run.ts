import type { Json } from '../../../agent/context/message.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { Score } from '../../evals/store/types.ts';
import { meanOf } from '../../evals/report/rule.ts';
import { judgePrompt } from '../../evals/scorers/judge.ts';
import { scoreAnswer } from '../../evals/scorers/score-answer.ts';
import { requestHash } from '../../../runs/operations/runs/enqueue-request.ts';
import { isTransient } from '../../../database/postgres/errors.ts';
import { readAnswer } from '../../evals/store/read-answer.ts';
import { planJudge, storeScore, type SampledRun, type NewRunScore, type WaitingScore } from '../store/run-scores.ts';
import type { TakenMonitor } from '../store/monitors.ts';
import { readRun } from '../../../database/store/run/read-run.ts';
import type { Run } from '../../../database/store/run/run.ts';
import { idsOf } from '../../../database/store/tenant/tenant-settings.ts';
import { askJudge, readJudge, isPermanent } from '../../evals/worker/ask-judge.ts';
import { scorerInput, usedBy } from '../../evals/worker/scored-run.ts';
import type { MonitorDependencies } from './dependencies.ts';

/** Behind the runs of users. */
const priority = 1_000;
/** After this, the thread of a judge that was asked is erased, unless a score waits for it. */
const planMs = 600_000;

/** Scores a run, and stores the score. A run that can never be scored gets an error, so that it does not block the next ones. */
export async function scoreOrExplain(
  deps: MonitorDependencies,
  monitor: TakenMonitor,
  { thread_id, id, ended_at }: SampledRun,
  signal: AbortSignal,
): Promise<void> {
  const run = await readRun(deps.db, thread_id, id);
  if (!run) return;
  const of = { thread_id, run_id: id, agent: run.agent, agent_version: run.agentVersion, ended_at };
  await scoreRun(deps, monitor, run, of, signal).catch((error: unknown) => {
    const lasting =
      isLanefoldError(error) && error.code !== 'database_error' ? isPermanent(error) : !isTransient(error);
    if (!lasting) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const score = { scorer: 'run', version: null, score: null, reason: null, error: why };
    return storeScore(deps.db, monitor, { ...of, ...done([score]) });
  });
}

/** With a rubric, it asks the judge, and the score waits for it. */
async function scoreRun(
  deps: MonitorDependencies,
  monitor: TakenMonitor,
  run: Run,
  of: Omit<NewRunScore, 'status' | 'score' | 'scores'>,
  signal: AbortSignal,
): Promise<void> {
  const { threadId, id } = run;
  const accepting = deps.acceptingFor(monitor.tenant_id);
  const { db } = accepting;
  if (run.status !== 'completed') return storeScore(deps.db, monitor, { ...of, ...done([failed(run.error?.message)]) });
  const answer = await readAnswer(db, threadId, id);
  // a strategy ended it without an answer of a model
  if (!answer) return storeScore(deps.db, monitor, { ...of, ...done([]) });
  const expected = monitor.rubric === null ? {} : { rubric: monitor.rubric };
  const input = scorerInput(run, answer, await usedBy(accepting.counting, run), expected, null);
  const chosen = deps.scorers.filter(({ name }) => monitor.scorers.includes(name));
  const scores = await scoreAnswer(chosen, input, { signal });
  if (signal.aborted) return;
  if (!monitor.judge) return storeScore(deps.db, monitor, { ...of, ...done(scores) });
  const requestId = `monitor:${requestHash(`${monitor.name} ${threadId} ${id}`).slice(0, 32)}`;
  await planJudge(deps.db, monitor, (await idsOf(db)).own(requestId), planMs);
  const asked = await askJudge(accepting, monitor.judge, { prompt: judgePrompt(input), requestId, priority });
  if ('score' in asked) return storeScore(deps.db, monitor, { ...of, ...done([...scores, asked.score]) });
  const judge = { thread_id: asked.waits.threadId, run_id: asked.waits.id };
  await storeScore(deps.db, monitor, {
    ...of,
    status: 'waiting',
    score: null,
    scores: scores as unknown as Json,
    judge,
  });
}

/** Stores the score of a run whose judge has ended. */
export async function storeJudged(
  deps: MonitorDependencies,
  monitor: TakenMonitor,
  waiting: WaitingScore,
): Promise<void> {
  const { judge_thread_id: threadId, judge_run_id: runId, scores, ...of } = waiting;
  const { db } = deps.acceptingFor(monitor.tenant_id);
  await storeScore(deps.db, monitor, { ...of, ...done([...scores, await readJudge(db, { threadId, runId })]) });
}

const done = (scores: readonly Score[]): Pick<NewRunScore, 'status' | 'score' | 'scores'> => ({
  status: 'done',
  scores: scores as unknown as Json,
  score: meanOf(scores.flatMap(({ score }) => score ?? [])),
});

const failed = (why: string | undefined): Score => ({
  scorer: 'run',
  version: null,
  score: 0,
  reason: why ?? 'The run failed.',
  error: null,
});
