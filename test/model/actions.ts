import type { Recorded } from './record.ts';

/** The actions of model/trace.pml, from number 1 on. */
const kinds = [
  'enqueue',
  'claim',
  'commit',
  'end',
  'promote',
  'queue_again',
  'release',
  'go_on',
  'cancel',
  'input',
  'wait',
  'suspend',
  'resolve',
  'append',
] as const;
const statuses = ['completed', 'failed', 'cancelled'];

/** What a transaction did to a run. */
export interface Action {
  name: (typeof kinds)[number];
  /** 0 or 1, in the order in which the runs were accepted. */
  run: number;
  value: number;
  /** The first entry that it wrote to the thread, and how many. */
  seq: number;
  entries: number;
  /** Whether it is a step that shares a transaction with the step of another thread before it. */
  together: boolean;
}

/**
 * Reads a recording as actions of the model. Leases rise by any amount in the product, so each becomes its place in their
 * order.
 */
export function actionsOf(recorded: readonly Recorded[]): Action[] {
  const runs = recorded.flatMap(({ kind, run_id }) => (kind === 'enqueue' ? [run_id] : []));
  const leases = new Map<string | null, string[]>();
  const valueOf = ({ kind, run_id: run, value }: Recorded): number => {
    if (kind === 'end') return statuses.indexOf(value!) + 1;
    if (kind !== 'claim') return Number(value);
    const taken = [...(leases.get(run) ?? []), value!];
    leases.set(run, taken);
    return taken.length;
  };
  const actions: Action[] = [];
  /** The transaction that has written a step, and its thread. */
  let step: Recorded | undefined;
  for (const writes of ofTransactions(recorded)) {
    const written = writes.flatMap((write): Action[] => {
      if (write.kind === 'entry') return [];
      const name = write.kind as Action['name'];
      const together = name === 'commit' && step?.tx === write.tx && step.thread_id !== write.thread_id;
      if (name === 'commit') step = write;
      return [{ name, run: runs.indexOf(write.run_id), value: valueOf(write), together, seq: 0, entries: 0 }];
    });
    actions.push(...withEntries(written, writes));
  }
  return actions;
}

/**
 * The actions of a transaction on a thread with the entries that it wrote there: they belong to the first action that
 * writes any, whether a statement for many runs has inserted them before or after it. Without an action, a caller wrote them.
 */
function withEntries(actions: Action[], writes: readonly Recorded[]): Action[] {
  const seqs = writes.flatMap(({ kind, value }) => (kind === 'entry' ? [Number(value)] : []));
  if (seqs.length === 0) return actions;
  if (seqs.some((seq, n) => seq !== seqs[0]! + n)) throw new Error(`A gap among the entries ${seqs.join(', ')}.`);
  const entries = { seq: seqs[0]!, entries: seqs.length };
  const writer = actions.findIndex(({ name }) => name === 'claim' || name === 'commit' || name === 'end');
  if (writer >= 0) return actions.with(writer, { ...actions[writer]!, ...entries });
  if (writes.some(({ run_id }) => run_id !== null)) throw new Error(`Entries of no action: ${seqs.join(', ')}.`);
  return [...actions, { name: 'append', run: 0, value: 0, together: false, ...entries }];
}

/** What each transaction wrote to a thread. */
function ofTransactions(recorded: readonly Recorded[]): Recorded[][] {
  const all: Recorded[][] = [];
  for (const write of recorded) {
    const last = all.at(-1)?.[0];
    if (last?.tx === write.tx && last.thread_id === write.thread_id) all.at(-1)!.push(write);
    else all.push([write]);
  }
  return all;
}

/** The actions with one thing wrong each, as a fault in the product would leave them. None can happen. */
export function damaged(actions: readonly Action[]): Action[][] {
  const at = (name: Action['name']) => actions.flatMap((action, n) => (action.name === name ? [n] : []));
  const change = (n: number, changes: Partial<Action>) => actions.with(n, { ...actions[n]!, ...changes });
  const swap = (n: number) => actions.with(n, actions[n + 1]!).with(n + 1, actions[n]!);
  return [
    // written under the lease that another worker had
    ...at('claim').map((n) => change(n, { value: actions[n]!.value + 1 })),
    // a step was written twice, or is missing
    ...at('commit').map((n) => change(n, { value: actions[n]!.value - 1 })),
    ...at('commit').map((n) => change(n, { value: actions[n]!.value + 1 })),
    // a gap in the log
    ...at('commit').flatMap((n) => (actions[n]!.entries > 0 ? [change(n, { seq: actions[n]!.seq + 1 })] : [])),
    // before its run was accepted, and after its end
    swap(0),
    ...at('end').map((n) => swap(n - 1)),
    // another end
    ...at('end').map((n) => change(n, { value: (actions[n]!.value % statuses.length) + 1 })),
  ];
}

/** A source for spin: a world of the model that does only what one of these runs did. */
export function traceSource(model: string, world: readonly string[], traces: readonly (readonly Action[])[]): string {
  const table = (name: string, of: (action: Action) => number) =>
    `#define TRACE_${name} { ${traces.flatMap((trace) => trace.map(of)).join(', ')} }`;
  const steps = world.some((definition) => definition.startsWith('STEPS')) ? [] : ['#define STEPS 8'];
  return [
    ...world.map((definition) => `#define ${definition}`),
    ...steps,
    '#define MAX_CLAIMS 5',
    `#define TRACES ${traces.length}`,
    `#define TRACE ${traces[0]!.length}`,
    table('KINDS', ({ name }) => kinds.indexOf(name) + 1),
    table('RUNS', ({ run }) => run),
    table('VALUES', ({ value }) => value),
    table('SEQS', ({ seq }) => seq),
    table('ENTRIES', ({ entries }) => entries),
    table('TOGETHER', ({ together }) => Number(together)),
    `#include "${model}"`,
    '',
  ].join('\n');
}
