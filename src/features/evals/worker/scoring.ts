import { holdItem, takeScoring, type OpenEval, type StartedItem, awaitJudge, settleItem } from '../store/items.ts';
import type { EvalDependencies } from './dependencies.ts';
import { every } from '../../../base/common/timer.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { Score } from '../item.ts';
import type { Expected } from '../types.ts';
import { firstDivergence, type RecordedCall } from '../recorded.ts';
import { judgePrompt } from '../scorers/judge.ts';
import { builtInScorers } from '../scorers/built-in.ts';
import { scoreAnswer } from '../scorers/score-answer.ts';
import type { ScorerInput } from '../scorers/scorer.ts';
import { requestHash } from '../../../runs/operations/runs/enqueue-request.ts';
import { readAnswer, readRunCalls, type RunAnswer } from '../store/read-answer.ts';
import { readRequest } from '../../../database/store/run/read-request.ts';
import { readRun } from '../../../database/store/run/read-run.ts';
import type { Run } from '../../../database/store/run/run.ts';
import { endedByLimit } from '../../../agent/strategies/limits.ts';
import { answerKey, askJudge, readJudge, scorerInput, usedBy, type Asked, type Used } from './ask-judge.ts';
import { endedUnpaid } from './budget.ts';
import { eraseThreads } from './erase-threads.ts';

/** How many items a worker scores at once. */
const atOnce = 8;
/** After this, another worker scores what a dead one had taken. */
const holdMs = 10_000;

/** The items that this worker is scoring, each held until it is settled. */
export class Scoring {
  readonly #active = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** @param onSettled there is room for another one */
  constructor(
    private readonly deps: EvalDependencies,
    private readonly onSettled: () => void,
  ) {}

  /** Scores an item, unless another worker does. Returns false if there is no room. */
  async begin(open: OpenEval, item: StartedItem): Promise<boolean> {
    if (this.#active.size >= atOnce || this.#stop.signal.aborted) return false;
    const takenAt = await takeScoring(this.deps.db, open.id, item.no, holdMs);
    if (takenAt === undefined) return true;
    const work = this.#score(open, item, takenAt)
      .catch(this.deps.onError)
      .finally(() => {
        this.#active.delete(work);
        this.onSettled();
      });
    this.#active.add(work);
    return true;
  }

  async #score(open: OpenEval, item: StartedItem, takenAt: string): Promise<void> {
    const lost = new AbortController();
    const hold = async () => {
      if (!(await holdItem(this.deps.db, open.id, { no: item.no, taken_at: takenAt }, holdMs))) lost.abort();
    };
    const timer = every(holdMs / 3, () => void hold().catch(this.deps.onError));
    const signal = AbortSignal.any([this.#stop.signal, lost.signal]);
    try {
      await scoreItem(this.deps, open, { item, takenAt, signal });
    } finally {
      timer.cancel();
    }
  }

  /** Stops scoring: other workers score what is left once it is no longer held. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#active);
  }
}

interface Taken {
  item: StartedItem;
  takenAt: string;
  signal: AbortSignal;
}

/**
 * Scores the answer of an item that this worker has taken, and settles it. With a rubric, the first time asks the judge, and
 * the item waits for it.
 */
async function scoreItem(deps: EvalDependencies, open: OpenEval, { item, takenAt, signal }: Taken): Promise<void> {
  const { db, requests } = deps;
  const at = { no: item.no, taken_at: takenAt };
  const { case: source } = item;
  const accepting = requests.acceptingFor(open.tenant);
  const run = await readRun(db, item.threadId, item.runId);
  const answer = run && (await readAnswer(db, item.threadId, item.runId));
  const used = run ? await usedBy(accepting.counting, run, item.reused) : undefined;
  const fail = (error: string) => settleItem(db, open.id, at, { status: 'failed', error, ...used });
  const gone = !run || !source || source.erased_at !== null;
  if (item.answered && gone) return settleItem(db, open.id, at, { as_before: true });
  if (!run) return fail('The thread of the answer was erased.');
  if (item.refused && endedUnpaid(run)) {
    const error = 'The budget of the eval was used up before its run had an answer.';
    return settleItem(db, open.id, at, { status: 'skipped', error, ...used });
  }
  if (run.status !== 'completed') return fail(run.error?.message ?? `The run was ${run.status}.`);
  if (!answer || !used) return fail('The run has no answer of a model.');
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
    status: 'done',
    answer: shown(answer),
    scores: given as unknown as Json,
    diverged,
    ended_by: limitOf(run, source.kind),
    ...used,
    ...omitUndefined({ answer_key: key }),
  });
}

/** The limit that ended a run. A case of a call allows for one model call only, so that one tells nothing. */
const limitOf = ({ terminationReason: reason }: Run, kind: 'run' | 'call'): string | null =>
  endedByLimit(reason) && !(kind === 'call' && reason === 'max_iterations') ? reason : null;

/** A score that says nothing is left out, so that a row is as long as what was said. */
const applies = ({ score, error, reason }: Score): boolean => score !== null || error !== null || reason !== null;

function inputOf(
  { spec }: OpenEval,
  { case: source, agent }: StartedItem,
  run: Run,
  answer: RunAnswer,
  used: Used,
): Omit<ScorerInput, 'signal'> {
  const { id, dataset, tags, split, note, expected } = source!;
  const of = { id, dataset: dataset ?? spec.dataset, tags, split, note };
  return scorerInput({ ...run, agent }, answer, used, (expected ?? {}) as Expected, of);
}

/** The score of the judge, or its run to wait for; undefined without a judge or a rubric. */
async function judge(
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

/** The answer as people see it: its text, then the calls it consists of. */
const shown = ({ text, last }: RunAnswer): string => [...(text === '' ? [] : [text]), ...last.map(callText)].join('\n');

const callText = ({ name, arguments: args }: RecordedCall): string => `${name}(${JSON.stringify(args)})`;
