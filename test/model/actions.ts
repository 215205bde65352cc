import type { Recorded } from './record.ts';

/** An action as model/trace.pml knows it. */
export interface Action {
  kind: number;
  /** 0 or 1, in the order in which the runs were accepted. */
  run: number;
  value: number;
  /** The first entry that its transaction wrote to the thread, and how many. */
  seq: number;
  entries: number;
}

/** The numbers of model/trace.pml. */
const kinds = [
  ...['enqueue', 'claim', 'commit', 'end', 'promote', 'requeue', 'release', 'go_on'],
  ...['cancel', 'input', 'wait', 'suspend', 'resolve', 'append'],
];
const statuses = ['completed', 'failed', 'cancelled'];

/**
 * Reads a recording as actions of the model. Entries belong to the next action of their transaction. Leases rise by any
 * amount in the product, so each becomes its place in their order.
 */
export function actionsOf(recorded: readonly Recorded[]): Action[] {
  const runs = recorded.flatMap(({ kind, run_id }) => (kind === 'enqueue' ? [run_id] : []));
  const leases = new Map<string | null, string[]>();
  const actions: Action[] = [];
  let written: { tx: string; thread: string; seqs: number[] } | undefined;
  for (const { tx, kind, thread_id: thread, run_id: run, value } of recorded) {
    if (written && (written.tx !== tx || written.thread !== thread)) throw new Error('Entries of no action.');
    if (kind === 'entry') {
      written ??= { tx, thread, seqs: [] };
      written.seqs.push(Number(value));
      continue;
    }
    const seqs = written?.seqs ?? [];
    if (seqs.some((seq, n) => seq !== seqs[0]! + n)) throw new Error(`A gap among the entries ${seqs.join(', ')}.`);
    written = undefined;
    if (kind === 'claim') leases.set(run, [...(leases.get(run) ?? []), value!]);
    actions.push({
      ...{ kind: kinds.indexOf(kind) + 1, run: runs.indexOf(run), seq: seqs[0] ?? 0, entries: seqs.length },
      value: kind === 'end' ? statuses.indexOf(value!) + 1 : kind === 'claim' ? leases.get(run)!.length : Number(value),
    });
  }
  return actions;
}

/** The actions with one thing wrong each, as a fault in the product would leave them. None can happen. */
export function damaged(actions: readonly Action[]): Action[][] {
  const at = (kind: string) => actions.flatMap((action, n) => (action.kind === kinds.indexOf(kind) + 1 ? [n] : []));
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
  const table = (name: string, key: keyof Action) =>
    `#define TRACE_${name} { ${traces.flatMap((trace) => trace.map((action) => action[key])).join(', ')} }`;
  return [
    ...world.map((definition) => `#define ${definition}`),
    ...[
      '#define STEPS 8',
      '#define MAX_CLAIMS 5',
      `#define TRACES ${traces.length}`,
      `#define TRACE ${traces[0]!.length}`,
    ],
    ...[table('KINDS', 'kind'), table('RUNS', 'run'), table('VALUES', 'value')],
    ...[table('SEQS', 'seq'), table('ENTRIES', 'entries'), `#include "${model}"`, ''],
  ].join('\n');
}
