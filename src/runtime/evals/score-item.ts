import { omitUndefined } from '../../common/omit-undefined.ts';
import type { Json, JsonObject } from '../../context/message.ts';
import type { Expected, Score } from '../../evals/item.ts';
import { firstDivergence, type RecordedCall } from '../../evals/recorded.ts';
import { judgeOutput, judgePrompt, readJudgement } from '../../evals/scorers/judge.ts';
import { builtInScorers } from '../../evals/scorers/built-in.ts';
import { scoreAnswer } from '../../evals/scorers/score-answer.ts';
import type { ScorerInput } from '../../evals/scorers/scorer.ts';
import { priced } from '../../library/runs/cost.ts';
import { enqueue } from '../../library/runs/enqueue.ts';
import { requestHash } from '../../library/runs/enqueue-request.ts';
import { awaitJudge, settleItem, type OpenEval, type StartedItem } from '../../store/eval/items.ts';
import { readAnswer, readRunCalls, type RunAnswer } from '../../store/eval/read-answer.ts';
import { readRequest } from '../../store/run/read-request.ts';
import { readRun } from '../../store/run/read-run.ts';
import type { Run } from '../../store/run/run.ts';
import { answerKey } from './answer-key.ts';
import type { EvalDependencies } from './dependencies.ts';
import { eraseThreads } from './erase-threads.ts';
import { isPermanent } from './is-permanent.ts';

interface Taken {
  item: StartedItem;
  takenAt: string;
  signal: AbortSignal;
}

/**
 * Scores the answer of an item that this worker has taken, and settles it. With a rubric, the first time asks the judge, and
 * the item waits for it.
 */
export async function scoreItem(
  deps: EvalDependencies,
  open: OpenEval,
  { item, takenAt, signal }: Taken,
): Promise<void> {
  const { db, requests } = deps;
  const at = { no: item.no, taken_at: takenAt };
  const { case: source } = item;
  const accepting = requests.acceptingFor(open.tenant);
  const run = await readRun(db, item.threadId, item.runId);
  const answer = run && (await readAnswer(db, item.threadId, item.runId));
  const used = run ? await usedBy(accepting.counting, run, item.reused) : {};
  const fail = (error: string) => settleItem(db, open.id, at, { status: 'failed', error, ...used });
  const gone = !run || !source || source.erased_at !== null;
  if (item.answered && gone) return settleItem(db, open.id, at, { as_before: true });
  if (!run) return fail('The thread of the answer was erased.');
  if (run.status !== 'completed') return fail(run.error?.message ?? `The run was ${run.status}.`);
  if (!answer) return fail('The run has no answer of a model.');
  if (!source) return fail('The case was removed.');
  const input = inputOf(open, item, run, answer, used);
  const judged = await judge(deps, open, item, input);
  if (judged && 'waits' in judged) {
    const waits = await awaitJudge(db, open, at, judged.waits);
    return waits ? undefined : eraseThreads(deps);
  }
  const scores = await scoreAnswer([...builtInScorers, ...deps.scorers], input, { signal });
  if (signal.aborted) return;
  const given = [...scores.filter(applies), ...(judged ? [judged.score] : [])];
  const recorded = open.spec.tools === 'recorded' && source.kind === 'run' ? source.run_id : null;
  const diverged =
    recorded === null ? null : firstDivergence(await readRunCalls(db, source.thread_id, recorded), answer.calls);
  const request = run.agent === item.agent ? await readRequest(db, item.threadId, item.runId) : undefined;
  const key = request && (await answerKey(db, open.spec, item, source, request, run.agentVersion ?? ''));
  await settleItem(db, open.id, at, {
    ...{ status: 'done', answer: shown(answer), scores: given as unknown as Json, diverged },
    ...used,
    ...omitUndefined({ answer_key: key }),
  });
}

/** A score that says nothing is left out, so that a row is as long as what was said. */
const applies = ({ score, error, reason }: Score): boolean => score !== null || error !== null || reason !== null;

interface Used {
  duration_ms?: number | null;
  input_tokens?: number | null;
  output_tokens?: number | null;
  cost_micros?: number | null;
}

async function usedBy(counting: Parameters<typeof priced>[0], run: Run, reused: boolean): Promise<Used & JsonObject> {
  const { cost, unpricedTokens } = await priced(counting, run);
  const { input_tokens: sent = 0, output_tokens: received = 0 } = run.usage ?? {};
  const unpriced = sent + received > 0 && (cost === null || unpricedTokens > 0);
  const micros = unpriced ? null : Math.round((cost ?? 0) * 1_000_000);
  return {
    duration_ms: run.durationMs,
    input_tokens: run.usage?.input_tokens ?? null,
    output_tokens: run.usage?.output_tokens ?? null,
    cost_micros: reused ? 0 : micros,
  };
}

function inputOf(
  { spec }: OpenEval,
  { case: source, agent }: StartedItem,
  run: Run,
  answer: RunAnswer,
  used: Used,
): Omit<ScorerInput, 'signal'> {
  const { id, dataset, tags, split, note, expected } = source!;
  const { duration_ms, input_tokens, output_tokens, cost_micros } = used;
  return {
    answer: answer.text,
    toolCalls: answer.calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
    messages: answer.messages,
    expected: (expected ?? {}) as Expected,
    case: { id, dataset: dataset ?? spec.dataset, tags, split, note },
    run: {
      ...{ threadId: run.threadId, id: run.id, agent, model: run.model, durationMs: duration_ms ?? null },
      ...{ inputTokens: input_tokens ?? null, outputTokens: output_tokens ?? null, costMicros: cost_micros ?? null },
    },
  };
}

/** The score of the judge, or its run to wait for; undefined without a judge or a rubric. */
async function judge(
  { db, requests }: EvalDependencies,
  open: OpenEval,
  item: StartedItem,
  input: Omit<ScorerInput, 'signal'>,
): Promise<{ score: Score } | { waits: { threadId: string; id: string } } | undefined> {
  const { judge: by, priority } = open.spec;
  const { rubric, scorer: only } = input.expected;
  if (!by || rubric === undefined || (only !== undefined && only !== 'judge')) return undefined;
  const score = (given: Pick<Score, 'score' | 'reason' | 'error'>) => ({
    score: { scorer: 'judge', version: null, ...given },
  });
  if (!item.judge) {
    const prompt = judgePrompt(input);
    // the id covers the prompt, so a case whose expectation has changed gets a new judgement
    const requestId = `${open.id}:${item.no}:judge:${requestHash(prompt).slice(0, 12)}`;
    const request = { agent: by.agent, input: prompt, requestId, priority, output: judgeOutput };
    const asked = { ...request, ...omitUndefined({ model: by.model as never }) };
    try {
      return { waits: await enqueue(requests.acceptingFor(open.tenant), asked) };
    } catch (error) {
      if (!isPermanent(error)) throw error;
      return score({ score: null, reason: null, error: `The judge could not be asked: ${error.message}` });
    }
  }
  const run = await readRun(db, item.judge.threadId, item.judge.runId);
  if (run?.status !== 'completed' || run.result === null)
    return score({
      score: null,
      reason: null,
      error: `The judge did not answer: ${run?.error?.message ?? run?.status ?? 'it is gone'}.`,
    });
  return score(readJudgement(run.result as string | JsonObject));
}

/** The answer as people see it: its text, then the calls it consists of. */
const shown = ({ text, last }: RunAnswer): string => [...(text === '' ? [] : [text]), ...last.map(callText)].join('\n');

const callText = ({ name, arguments: args }: RecordedCall): string => `${name}(${JSON.stringify(args)})`;
