import { type OpenEval, type StartedItem, awaitJudge, settleItem } from '../store/items.ts';
import type { EvalDependencies } from './dependencies.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { Score } from '../store/types.ts';
import { firstDivergence, type RecordedCall } from '../recorded.ts';
import { builtInScorers } from '../scorers/built-in.ts';
import { scoreAnswer } from '../scorers/score-answer.ts';
import { readAnswer, readRunCalls, type RunAnswer } from '../store/read-answer.ts';
import { readRequest } from '../../../database/store/run/read-request.ts';
import { readRun } from '../../../database/store/run/read-run.ts';
import type { Run } from '../../../database/store/run/run.ts';
import { endedByLimit } from '../../../agent/strategies/limits.ts';
import { answerKey } from './answer-key.ts';
import { judgeItem } from './ask-judge.ts';
import { endedUnpaid } from './budget.ts';
import { eraseThreads } from './erase-threads.ts';
import { itemInput, usedBy } from './scored-run.ts';

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
  const input = itemInput(open, item, run, answer, used);
  const judged = await judgeItem(deps, open, item, input);
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

/** The answer as people see it: its text, then the calls it consists of. */
const shown = ({ text, last }: RunAnswer): string => [...(text === '' ? [] : [text]), ...last.map(callText)].join('\n');

const callText = ({ name, arguments: args }: RecordedCall): string => `${name}(${JSON.stringify(args)})`;
