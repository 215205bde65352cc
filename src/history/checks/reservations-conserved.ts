import type { Found, HistoryCheck } from '../check.ts';
import type { Answered, Operation, OperationOf } from '../operation.ts';
import { all, answered, before, groupBy } from '../select.ts';

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

/**
 * What a run holds of a place while the limits are read. The end of the run returns what was taken before; a request
 * whose answer was lost may be executed after that.
 */
function heldBy(own: readonly OperationOf<'reserve'>[], place: string, usage: Answered<'usage'>) {
  let least = 0;
  let open: { by: OperationOf<'reserve'>; amount: number }[] = [];
  for (const operation of own) {
    if (operation.outcome === 'fail' || operation.invoked > usage.ended) continue;
    const certain = operation.outcome === 'ok' && before(operation, usage);
    const { take, done, ends } = operation.call;
    const back = ends ? Infinity : sumOf(done, place);
    const taken = operation.answer?.granted === false ? 0 : sumOf(take, place);
    least = Math.max(0, least - back) + (certain ? taken : 0);
    if (certain) open = without(open, operation, back);
    open.push({ by: operation, amount: taken });
  }
  return { least, most: open.reduce((sum, { amount }) => sum + amount, 0) };
}

/** What is still open after an operation has returned some of what was taken before it. */
function without<Taken extends { by: Operation; amount: number }>(
  open: Taken[],
  operation: Operation,
  back: number,
): Taken[] {
  let rest = back;
  return open.map((taken) => {
    const returned = before(taken.by, operation) ? Math.min(rest, taken.amount) : 0;
    rest -= returned;
    return { ...taken, amount: taken.amount - returned };
  });
}

const sumOf = (amounts: readonly [place: string, amount: number][], place: string): number =>
  amounts.reduce((sum, [name, amount]) => sum + (name === place ? amount : 0), 0);
