import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import { foldContext } from '../../../agent/context/fold.ts';
import type { JsonObject, Message } from '../../../agent/context/message.ts';
import type { Found, HistoryCheck } from '../check.ts';
import { isClosed } from '../closed-groups.ts';
import type { SnapshotEntry } from '../operation.ts';
import { answered, groupBy, longestRead } from '../select.ts';

export const forksBeginThere: HistoryCheck = {
  name: 'forks-begin-there',
  scope: 'all',
  promise: 'A fork begins with the contexts that its parent had after the entry it was forked at.',
  find(history) {
    const threads = groupBy(history, ({ thread_id }) => thread_id);
    return answered(history, 'fork').flatMap((fork): Found[] => {
      const { parent_thread_id: parentId, fork_seq: seq } = fork.call;
      const own = longestRead(threads.get(fork.thread_id)!);
      const parent = longestRead(threads.get(parentId) ?? []);
      if (!own || !parent || parent.answer.entries.length <= seq) return [];
      return own.answer.entries
        .filter((entry) => entry.is_anchor && entry.op_id === `fork/${entry.context_ref}`)
        .filter((anchor) => {
          const folded = foldedMessages(parent.answer.entries, anchor, seq);
          // the fork has repaired a tool group that is open there
          return isClosed(folded) && contextHash(folded) !== contextHash(messagesOf(anchor).map(toMessage));
        })
        .map(({ context_ref: lane }) => ({
          what: `lane ${lane} of fork ${fork.thread_id} is not what thread ${parentId} had after entry ${seq}`,
          by: [fork, own, parent],
        }));
    });
  },
};

const messagesOf = ({ payload }: SnapshotEntry): object[] =>
  ((payload['operation'] as JsonObject)['result_context'] as { entries: JsonObject[] }).entries;

const foldedMessages = (log: readonly SnapshotEntry[], { context_ref }: SnapshotEntry, seq: number): Message[] =>
  foldContext(log, context_ref!, seq)
    .filter(({ role }) => role !== 'system')
    .map(toMessage);

const toMessage = (message: object): Message => canonicalMessage(message as Partial<Record<keyof Message, unknown>>);
