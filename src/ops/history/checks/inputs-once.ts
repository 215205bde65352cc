import type { Found, HistoryCheck } from '../check.ts';
import type { Answered } from '../operation.ts';
import { all, answered, before, groupBy, lastRuns } from '../select.ts';

export const inputsOnce: HistoryCheck = {
  name: 'inputs-once',
  scope: 'thread',
  promise:
    'Input is in the log at most once; if it was accepted and its run ended with a final answer, exactly once, before that answer; if it was refused, never.',
  find(history) {
    const read = lastRuns(history);
    if (!read) return [];
    return [...groupBy(all(history, 'steer'), ({ call }) => call.input_id)].flatMap(([id, attempts]): Found[] => {
      const places = read.answer.entries.filter(({ refs }) => refs['input_id'] === id).map(({ seq }) => seq);
      const by = [...attempts, read];
      if (places.length > 1) return [{ what: `input ${id} is in the log at ${places.join(' and ')}`, by }];
      const accepted = answered(attempts, 'steer').find((attempt) => before(attempt, read));
      if (places.length === 1 && attempts.every(({ outcome }) => outcome === 'fail'))
        return [{ what: `input ${id} was refused and is in the log`, by }];
      const end = accepted && finalAnswer(accepted.answer.run_id, read);
      if (end === undefined || (places[0] ?? Infinity) < end) return [];
      return [{ what: `input ${id} was accepted, and its run was answered without it`, by }];
    });
  },
};

/** `seq` of the final answer of a run; undefined if it did not end with one. */
function finalAnswer(run: string, { answer }: Answered<'read'>): number | undefined {
  const ended = answer.runs!.find(({ id }) => id === run);
  if (ended?.status !== 'completed' || ended.reason !== 'final_answer') return undefined;
  return answer.entries.findLast(({ role, run_id }) => role === 'assistant' && run_id === run)?.seq;
}
