import type { Found, HistoryCheck } from '../check.ts';
import { all, answered, before, groupBy, longestRead } from '../select.ts';

export const operationsOnce: HistoryCheck = {
  name: 'operations-once',
  scope: 'thread',
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
