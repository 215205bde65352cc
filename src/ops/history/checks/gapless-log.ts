import type { HistoryCheck } from '../check.ts';
import { answered } from '../select.ts';

export const gaplessLog: HistoryCheck = {
  name: 'gapless-log',
  scope: 'thread',
  promise: 'Each read has the entries 0, 1, 2, … and as many as the thread says.',
  find: (history) =>
    answered(history, 'read').flatMap((read) => {
      const { entries, rev } = read.answer;
      const gap = entries.findIndex(({ seq }, i) => seq !== i);
      if (gap >= 0) return [{ what: `entry ${gap} is missing: the next one is ${entries[gap]!.seq}`, by: [read] }];
      return rev === entries.length
        ? []
        : [{ what: `the thread has ${entries.length} entries and says ${rev}`, by: [read] }];
    }),
};
