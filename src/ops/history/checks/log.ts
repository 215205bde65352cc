import { type Found, type HistoryCheck, all, answered, before, groupBy, longestRead, textOf } from '../check.ts';
import type { Answered, Operation, OperationOf, SnapshotEntry } from '../event.ts';
import { foldContext } from '../../../agent/context/fold.ts';
import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import type { JsonObject, Message } from '../../../agent/context/message.ts';

/**
 * Appends and reads of a thread are linearizable: there is an order of them, which respects real time, in which each
 * read returns what was appended before it.
 *
 * To find such an order is NP-complete in general. Here the answers name it: an append is told its `seq`, and the log
 * itself is the order of the appends. So the check only has to verify this one order, in linear time: reads are
 * prefixes of one another, each value is at the place that its append was told, what was acknowledged before an append
 * began comes before it, and a read has what was acknowledged before it and nothing that began after it.
 */
export const linearizableAppends: HistoryCheck = {
  name: 'linearizable-appends',
  promise: 'Appends to a thread and reads of it take effect one after the other, in an order that respects real time.',
  find(history) {
    const longest = longestRead(history);
    if (!longest) return [];
    const appends = [...groupBy(all(history, 'append'), ({ call }) => call.values.join(' ')).values()].map(asOne);
    return [
      ...differingReads(history, longest),
      ...misplaced(appends, longest),
      ...unexpectedRevs(history),
      ...reordered(appends, longest),
      ...staleReads(history, appends),
    ];
  },
};

/** All attempts at one append, which repeat its idempotency key. */
interface Append {
  attempts: OperationOf<'append'>[];
  values: string[];
  first: OperationOf<'append'>;
  /** The attempt that was acknowledged first. */
  told: Answered<'append'> | undefined;
  /** Each attempt did nothing. */
  failed: boolean;
}

function asOne(attempts: OperationOf<'append'>[]): Append {
  const told = answered(attempts, 'append').toSorted((a, b) => a.ended - b.ended)[0];
  const failed = attempts.every(({ outcome }) => outcome === 'fail');
  return { attempts, values: attempts[0]!.call.values, first: attempts[0]!, told, failed };
}

function differingReads(history: readonly Operation[], longest: Answered<'read'>): Found[] {
  const log = longest.answer.entries.map(textOf);
  return answered(history, 'read').flatMap((read) => {
    const at = read.answer.entries.findIndex((entry, i) => textOf(entry) !== log[i]);
    return at < 0 ? [] : [{ what: `two reads have different entries at ${at}`, by: [read, longest] }];
  });
}

function misplaced(appends: readonly Append[], longest: Answered<'read'>): Found[] {
  const places = groupBy(
    longest.answer.entries.filter(({ value }) => value !== null),
    ({ value }) => value!,
  );
  return appends.flatMap(({ attempts, values, told, failed }) =>
    values.flatMap((value, i): Found[] => {
      const found = (places.get(value) ?? []).map(({ seq }) => seq);
      const by = [...attempts, longest];
      if (found.length > 1)
        return [{ what: `${value} is in the log ${found.length} times, at ${found.join(' and ')}`, by }];
      if (failed && found.length > 0) return [{ what: `${value} is in the log, but its append failed`, by }];
      if (!told || (found.length === 0 && !before(told, longest))) return [];
      const place = told.answer.first_seq + i;
      return found[0] === place
        ? []
        : [{ what: `${value} was acknowledged at ${place} and is at ${found[0] ?? 'no place'}`, by }];
    }),
  );
}

const unexpectedRevs = (history: readonly Operation[]): Found[] =>
  answered(history, 'append')
    .filter(({ call, answer }) => !answer.duplicate && (call.expected_rev ?? answer.first_seq) !== answer.first_seq)
    .map((append) => ({
      what: `an append that expected ${append.call.expected_rev} entries came after ${append.answer.first_seq}`,
      by: [append],
    }));

/** Goes through the log once: no append may come after one that began only when it had been acknowledged. */
function reordered(appends: readonly Append[], longest: Answered<'read'>): Found[] {
  const appendOf = new Map(appends.flatMap((append) => append.values.map((value) => [value, append])));
  const found: Found[] = [];
  let latest: Append | undefined;
  for (const { value } of longest.answer.entries) {
    const append = value === null ? undefined : appendOf.get(value);
    if (!append) continue;
    if (latest && append.told && before(append.told, latest.first))
      found.push({
        what: `${value} was acknowledged before ${latest.values[0]} was sent, and comes after it`,
        by: [append.told, latest.first],
      });
    if (!latest || append.first.invoked > latest.first.invoked) latest = append;
  }
  return found;
}

/** Goes through the history once: what a read has never shrinks, and lacks nothing that was acknowledged before. */
function staleReads(history: readonly Operation[], appends: readonly Append[]): Found[] {
  const found: Found[] = [];
  const firstOf = new Map(appends.flatMap((append) => append.values.map((value) => [value, append.first])));
  const moments = history
    .flatMap((operation) => [
      { at: operation.invoked, operation, begins: true },
      { at: operation.ended, operation, begins: false },
    ])
    .toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at));
  let known: { length: number; by: Operation } | undefined;
  const knownTo = new Map<Operation, typeof known>();
  for (const { operation, begins } of moments) {
    if (begins) {
      if (operation.f === 'read') knownTo.set(operation, known);
      continue;
    }
    const length = lengthAfter(operation);
    if (operation.f === 'read' && operation.answer) {
      const least = knownTo.get(operation);
      if (least && length < least.length)
        found.push({
          what: `a read has ${length} entries, but ${least.length} were known before it`,
          by: [operation, least.by],
        });
      for (const { value } of operation.answer.entries) {
        const append = value === null ? undefined : firstOf.get(value);
        if (append && before(operation, append))
          found.push({ what: `a read has ${value}, which was sent only after it`, by: [operation, append] });
      }
    }
    if (length > (known?.length ?? 0)) known = { length, by: operation };
  }
  return found;
}

/** How long the log is at least, as an answer tells. */
function lengthAfter({ f, call, answer }: Operation): number {
  if (!answer) return 0;
  if (f === 'read') return answer.entries.length;
  if (f === 'append') return answer.first_seq + call.values.length;
  return f === 'commit' && answer.seq !== undefined ? answer.seq + call.entries : 0;
}

export const gaplessLog: HistoryCheck = {
  name: 'gapless-log',
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

/**
 * Whether every assistant message with calls is followed by its tool messages in call order, with no other tool
 * messages.
 */
export function isClosed(messages: readonly Message[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open.shift() !== message.tool_call_id) return false;
    } else {
      if (open.length > 0) return false;
      open = message.tool_calls?.map((call) => call.id) ?? [];
    }
  }
  return open.length === 0;
}
