import { answered, groupBy, lastRuns, before, all, longestRead, type HistoryCheck, type Found } from '../check.ts';
import type { Operation, Answered, OperationOf } from '../event.ts';

/** The run that an operation ended, and how; undefined if it ended no run. */
function endingOf({ f, call, answer }: Operation): { run: string; status: string } | undefined {
  if (!answer || !(f === 'commit' || f === 'finish' || f === 'cancel') || !answer.finished) return undefined;
  if (f === 'commit' && answer.duplicate) return undefined;
  return { run: call.run_id, status: answer.status ?? '' };
}

export const oneEnd: HistoryCheck = {
  name: 'one-end',
  promise: 'A run ends once: one operation ends it, with one terminal event, and its status stays.',
  find(history) {
    const endings = history.flatMap((operation) => {
      const ending = endingOf(operation);
      return ending ? [{ ...ending, operation }] : [];
    });
    const read = lastRuns(history);
    const statusOf = new Map(read?.answer.runs!.map(({ id, status }) => [id, status]));
    const twice = [...groupBy(endings, ({ run }) => run)].flatMap(([run, list]) =>
      list.length > 1
        ? [{ what: `run ${run} was ended ${list.length} times`, by: list.map(({ operation }) => operation) }]
        : [],
    );
    const changed = endings
      .filter(({ run, status, operation }) => read && operation.ended < read.invoked && statusOf.get(run) !== status)
      .map(({ run, status, operation }) => ({
        what: `run ${run} ended as ${status} and is ${statusOf.get(run)}`,
        by: [operation, read!],
      }));
    const events = answered(history, 'read').flatMap((one) =>
      (one.answer.runs ?? [])
        .filter(({ terminal }) => terminal.length > 1)
        .map(({ id, terminal }) => ({ what: `run ${id} has the terminal events ${terminal.join(', ')}`, by: [one] })),
    );
    return [...twice, ...changed, ...events];
  },
};

export const cancelsWin: HistoryCheck = {
  name: 'cancels-win',
  promise: 'A run whose cancellation was accepted before its end was sent ends as cancelled.',
  find: (history) =>
    answered(history, 'cancel')
      .filter(({ answer }) => answer.accepted)
      .flatMap((cancel) =>
        history
          .filter((operation) => before(cancel, operation) && endingOf(operation)?.run === cancel.call.run_id)
          .filter((operation) => endingOf(operation)!.status !== 'cancelled')
          .map((operation) => ({
            what: `run ${cancel.call.run_id} ended as ${endingOf(operation)!.status} after it was cancelled`,
            by: [cancel, operation],
          })),
      ),
};

export const firstDecision: HistoryCheck = {
  name: 'first-decision',
  promise: 'The first decision on a tool call counts, and the opposite decision is refused.',
  find: (history) =>
    [...groupBy(answered(history, 'decide'), ({ call }) => `${call.run_id} ${call.round}.${call.index}`)].flatMap(
      ([call, by]) => {
        const decisions = new Set(by.map(({ answer }) => answer.decision));
        return decisions.size > 1 ? [{ what: `call ${call} was ${[...decisions].join(' and ')}`, by }] : [];
      },
    ),
};

export const commitsOnce: HistoryCheck = {
  name: 'commits-once',
  promise: 'Each step of a run is written once, at the place that its worker was told.',
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

export const operationsOnce: HistoryCheck = {
  name: 'operations-once',
  promise: 'A context operation is in the log once if it was applied, and never if it was refused.',
  find(history) {
    const read = longestRead(history);
    if (!read) return [];
    return [...groupBy(all(history, 'operate'), ({ call }) => call.op_id)].flatMap(([id, attempts]): Found[] => {
      const places = read.answer.entries.filter(({ op_id }) => op_id === id).map(({ seq }) => seq);
      const by = [...attempts, read];
      if (places.length > 1) return [{ what: `operation ${id} is in the log at ${places.join(' and ')}`, by }];
      if (places.length === 1 && attempts.every(({ outcome }) => outcome === 'fail'))
        return [{ what: `operation ${id} was refused and is in the log`, by }];
      const applied = answered(attempts, 'operate').find(
        (attempt) => attempt.answer.op_status === 'applied' && before(attempt, read),
      );
      if (!applied || places[0] === applied.answer.seq) return [];
      return [
        { what: `operation ${id} was applied at ${applied.answer.seq} and is at ${places[0] ?? 'no place'}`, by },
      ];
    });
  },
};

export const requestsOnce: HistoryCheck = {
  name: 'requests-once',
  promise: 'A request that is sent again is answered with the same run.',
  find: (history) =>
    [...groupBy(answered(history, 'enqueue'), ({ call }) => call.request_id)].flatMap(([request, by]) => {
      const runs = new Set(by.map(({ answer }) => answer.run_id));
      return runs.size > 1 ? [{ what: `request ${request} became the runs ${[...runs].join(' and ')}`, by }] : [];
    }),
};

export const startsOnce: HistoryCheck = {
  name: 'starts-once',
  promise: 'A run writes its question to the log once, however often it is claimed.',
  find(history) {
    const read = longestRead(history);
    const questions = (read?.answer.entries ?? []).filter(
      ({ role, run_id, context_ref, refs }) =>
        role === 'user' &&
        run_id !== null &&
        refs['kind'] === undefined &&
        // a question that its strategy asks
        !context_ref?.startsWith(`${run_id}.`),
    );
    return [...groupBy(questions, ({ run_id }) => run_id!)].flatMap(([run, list]) =>
      list.length > 1
        ? [
            {
              what: `the question of run ${run} is in the log at ${list.map(({ seq }) => seq).join(' and ')}`,
              by: [read!],
            },
          ]
        : [],
    );
  },
};

export const neverTwice: HistoryCheck = {
  name: 'never-twice',
  promise: 'A tool with replay: never is executed at most once for each call.',
  find: (history) =>
    [
      ...groupBy(
        all(history, 'execute').filter(({ call }) => call.replay === 'never'),
        ({ call }) => `${call.run_id} ${call.round}.${call.index}`,
      ),
    ].flatMap(([call, by]) => (by.length > 1 ? [{ what: `call ${call} was executed ${by.length} times`, by }] : [])),
};

export const inputsOnce: HistoryCheck = {
  name: 'inputs-once',
  promise:
    'Input is in the log at most once, and refused input never. If a run ends with a final answer, its accepted input is in the log before the answer.',
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

/**
 * What is reserved of a limit is what runs hold. While runs take and give back, a read of the limits may be anywhere
 * between: at least what was taken for certain less what may have been given back, at most what may have been taken less
 * what was given back for certain.
 */
export const reservationsConserved: HistoryCheck = {
  name: 'reservations-conserved',
  scope: 'all',
  promise: 'What is reserved of a limit is what runs have taken and not given back.',
  find(history) {
    const runs = groupBy(all(history, 'reserve'), ({ thread_id, call }) => `${thread_id} ${call.run_id}`);
    return answered(history, 'usage').flatMap((usage) =>
      Object.entries(usage.answer.reserved).flatMap(([place, reserved]): Found[] => {
        const held = [...runs.values()].map((own) => heldBy(own, place, usage));
        const least = held.reduce((sum, { least: one }) => sum + one, 0);
        const most = held.reduce((sum, { most: one }) => sum + one, 0);
        if (reserved >= least && reserved <= most) return [];
        const expected = least === most ? `${least}` : `${least} to ${most}`;
        return [{ what: `${place} has ${reserved} reserved, but runs hold ${expected}`, by: [usage] }];
      }),
    );
  },
};

/** What a run has taken of a place and may still hold. */
interface Taken {
  by: OperationOf<'reserve'>;
  amount: number;
}

/**
 * What a run holds of a place while the limits are read. Its end, or its next claim, returns everything that was taken
 * before. A request whose answer was lost may be executed at any later time, and so may one of a worker that has lost the
 * run: it returns as much as it says of what the run holds by then.
 */
function heldBy(own: readonly OperationOf<'reserve'>[], place: string, usage: Answered<'usage'>) {
  const sent = own.filter(({ outcome, invoked }) => outcome !== 'fail' && invoked <= usage.ended);
  const certain = sent.filter((operation) => operation.outcome === 'ok' && before(operation, usage));
  const takenBy = (operations: typeof sent): Taken[] =>
    operations.map((by) => ({ by, amount: by.answer?.granted === false ? 0 : sumOf(by.call.take, place) }));
  const backBy = ({ call }: OperationOf<'reserve'>) => (call.settles ? Infinity : sumOf(call.done, place));
  const least = takenBy(certain);
  for (const operation of sent.toSorted((a, b) => a.ended - b.ended))
    giveBack(least, backBy(operation), ({ by }) => !(by === operation && by.call.settles) && !before(operation, by));
  const most = takenBy(sent);
  for (const operation of certain) giveBack(most, backBy(operation), ({ by }) => before(by, operation));
  return { least: sumOfAll(least), most: sumOfAll(most) };
}

/** An operation returns up to `back` of what may have been taken before it. */
function giveBack(taken: Taken[], back: number, mayReturn: (one: Taken) => boolean): void {
  let rest = back;
  for (const one of taken.filter(mayReturn)) {
    const returned = Math.min(rest, one.amount);
    one.amount -= returned;
    rest -= returned;
  }
}

const sumOf = (amounts: readonly [place: string, amount: number][], place: string): number =>
  amounts.reduce((sum, [name, amount]) => sum + (name === place ? amount : 0), 0);

const sumOfAll = (taken: readonly Taken[]): number => taken.reduce((sum, { amount }) => sum + amount, 0);
