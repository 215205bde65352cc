import { operationsOf, type HistoryEvent, type Operation } from './event.ts';

type MicroOperation = [f: 'append', thread: string, value: number] | [f: 'r', thread: string, list: number[] | null];

/** An event as `elle-cli --model list-append` reads it from JSON. */
export interface ElleEvent {
  index: number;
  time: number;
  process: number;
  type: HistoryEvent['type'];
  f: 'txn';
  value: MicroOperation[];
}

interface Transaction {
  asked: MicroOperation[];
  answered: MicroOperation[];
  type: 'ok' | 'fail' | 'info';
  invoked: number;
  ended: number;
  invokedAt: number;
  endedAt: number;
}

/**
 * The appends and reads of a history in the form that Elle reads: each thread is a list, an append of several entries a
 * transaction, a read the list of the values in the log. Values become numbers, in the order in which they occur.
 *
 * Elle knows no idempotency keys. The attempts at an append become one transaction, which begins with the first attempt
 * and ends with the first answer. It has its own process, and so has each read.
 */
export function toElle(events: readonly HistoryEvent[]): ElleEvent[] {
  const last = events.at(-1);
  const transactions = transactionsOf(operationsOf(events));
  const placed = transactions.flatMap(({ asked, answered, type, ...at }, process) => [
    { at: at.invoked, time: at.invokedAt, process, type: 'invoke' as const, value: asked },
    { at: at.ended, time: Math.min(at.endedAt, last!.time), process, type, value: answered },
  ]);
  return placed
    .toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at))
    .map(({ time, process, type, value }, index) => ({ index, time, process, type, f: 'txn', value }));
}

/** A file that `elle-cli` reads: one JSON array, with a line for each event. */
export const elleFile = (events: readonly HistoryEvent[]): string =>
  `[\n${toElle(events)
    .map((event) => JSON.stringify(event))
    .join(',\n')}\n]\n`;

function transactionsOf(operations: readonly Operation[]): Transaction[] {
  const numbers = new Map<string, number>();
  const numberOf = (thread: string, value: string): number => {
    const name = `${thread} ${value}`;
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    return numbers.get(name)!;
  };
  const appends = new Map<string, Transaction>();
  const transactions: Transaction[] = [];
  for (const { thread_id: thread, outcome: type, invoked, ended, invokedAt, endedAt, ...operation } of operations) {
    const at = { invoked, ended, invokedAt, endedAt };
    if (operation.f === 'read') {
      const list = operation.answer?.entries.flatMap(({ value }) => (value === null ? [] : [numberOf(thread, value)]));
      transactions.push({ asked: [['r', thread, null]], answered: [['r', thread, list ?? null]], type, ...at });
    } else if (operation.f === 'append') {
      const { values } = operation.call;
      const name = `${thread} ${values.join(' ')}`;
      const known = appends.get(name);
      if (known) Object.assign(known, together(known, { type, ...at }));
      else {
        const asked = values.map((value): MicroOperation => ['append', thread, numberOf(thread, value)]);
        const transaction = { asked, answered: asked, type, ...at };
        appends.set(name, transaction);
        transactions.push(transaction);
      }
    }
  }
  return transactions;
}

type Ending = Pick<Transaction, 'type' | 'ended' | 'endedAt'>;

/** How two attempts ended together: the first answer tells, and two failures are one only once both have failed. */
function together(a: Ending, b: Ending): Ending {
  const [first, second] = a.ended <= b.ended ? [a, b] : [b, a];
  const acknowledged = [first, second].find(({ type }) => type === 'ok');
  const { type, ended, endedAt } = acknowledged ?? second;
  return { type: acknowledged || first.type === type ? type : 'info', ended, endedAt };
}
