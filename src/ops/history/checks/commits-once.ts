import type { Found, HistoryCheck } from '../check.ts';
import type { Answered, Operation } from '../operation.ts';
import { all, answered, before, groupBy, longestRead } from '../select.ts';

export const commitsOnce: HistoryCheck = {
  name: 'commits-once',
  scope: 'thread',
  promise: 'Each step of a run is written once, and its entries are where its worker was told.',
  find(history) {
    const commits = answered(history, 'commit');
    const written = commits.filter(({ answer }) => !answer.duplicate);
    const steps = groupBy(written, ({ call }) => `step ${call.step} of run ${call.run_id}`);
    const log = longestRead(history);
    return [
      ...[...steps].flatMap(([step, by]) =>
        by.length > 1 ? [{ what: `${step} was written ${by.length} times`, by }] : [],
      ),
      ...(log ? tooManyAnswers(history, log) : []),
      ...commits.flatMap((commit) => (log && before(commit, log) ? notThere(commit, log) : [])),
    ];
  },
};

function notThere(commit: Answered<'commit'>, log: Answered<'read'>): Found[] {
  const { call, answer } = commit;
  // a worker that repeats a step of a run that has ended needs no place
  if (answer.seq === undefined || (answer.duplicate && answer.finished)) return [];
  const own = log.answer.entries
    .slice(answer.seq, answer.seq + call.entries)
    .filter(({ run_id }) => run_id === call.run_id);
  if (own.length === call.entries && own.filter(({ role }) => role === 'assistant').length === call.answers) return [];
  return [
    {
      what: `the ${call.entries} entries of step ${call.step} of run ${call.run_id} are not at ${answer.seq}`,
      by: [commit, log],
    },
  ];
}

/** A step whose answer was lost, and which was written again, shows only in the log. */
function tooManyAnswers(history: readonly Operation[], log: Answered<'read'>): Found[] {
  const sent = all(history, 'commit').filter(({ outcome, invoked }) => outcome !== 'fail' && invoked < log.ended);
  return [...groupBy(sent, ({ call }) => call.run_id)].flatMap(([run, commits]): Found[] => {
    // workers may have sent different steps under one number, of which one was written
    const steps = [...groupBy(commits, ({ call }) => `${call.step}`).values()];
    const most = steps.reduce((sum, sentAs) => sum + Math.max(...sentAs.map(({ call }) => call.answers)), 0);
    const found = log.answer.entries.filter(({ run_id, role }) => run_id === run && role === 'assistant').length;
    if (found <= most) return [];
    return [
      { what: `run ${run} has ${found} answers in the log, but its steps brought ${most}`, by: [...commits, log] },
    ];
  });
}
