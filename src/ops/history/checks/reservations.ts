import { type Found, type HistoryCheck, all, answered, before, groupBy } from '../check.ts';
import type { Answered, OperationOf } from '../event.ts';

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
