import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import { foldContext } from '../../../agent/context/fold.ts';
import type { Message } from '../../../agent/context/message.ts';
import type { Found, HistoryCheck } from '../check.ts';
import type { Operation, SnapshotEntry } from '../operation.ts';
import { answered, before, longestRead } from '../select.ts';
import { granted } from './monotonic-fences.ts';

/** The hash of a lane's context after the entry `upto`, folded from the log. */
const foldHash = (log: readonly SnapshotEntry[], contextRef: string, upto: number): string =>
  contextHash(
    foldContext(log, contextRef, upto).map((row) => canonicalMessage(row as Partial<Record<keyof Message, unknown>>)),
  );

export const claimsFold: HistoryCheck = {
  name: 'claims-fold',
  scope: 'thread',
  promise: 'The context given to a worker is the fold of the log at a moment between its claim and the answer.',
  find(history) {
    const read = longestRead(history);
    if (!read) return [];
    const log = read.answer.entries;
    return granted(history).flatMap((claim): Found[] => {
      if (!before(claim, read)) return [];
      const { context_ref: lane, context_hash: hash, lease, user_seq: userSeq } = claim.answer;
      const first = Math.max(lengthKnown(history, claim.invoked) - 1, userSeq ?? -1);
      // the first step under this lease comes after the claim
      const next = answered(history, 'commit').find(
        ({ call, answer }) => call.run_id === claim.call.run_id && call.lease >= lease && !answer.duplicate,
      );
      const last = Math.min(next?.answer.seq ?? log.length, log.length) - 1;
      for (let upto = Math.min(first, last); upto <= last; upto++) if (foldHash(log, lane, upto) === hash) return [];
      return [
        {
          what: `the context of run ${claim.call.run_id} under lease ${lease} is not the fold of the log`,
          by: [claim, read],
        },
      ];
    });
  },
};

/** How many entries were known before an index of the history. */
const lengthKnown = (history: readonly Operation[], index: number): number =>
  history.reduce((length, { f, call, answer, ended }) => {
    if (!answer || ended >= index) return length;
    if (f === 'append') return Math.max(length, answer.first_seq + call.values.length);
    if (f === 'commit' && answer.seq !== undefined) return Math.max(length, answer.seq + call.entries);
    return f === 'read' ? Math.max(length, answer.entries.length) : length;
  }, 0);
