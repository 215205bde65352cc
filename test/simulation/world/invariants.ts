import type { Limits } from '../model/limits.ts';
import { hasEnded, type Body, type Thread } from '../model/state.ts';
import type { Statement } from '../store.ts';

/** What a store can show of its inside. */
export interface Inside {
  threads: ReadonlyMap<string, Thread>;
  limits: Limits;
}

/** What was looked at before, because entries and events never change. */
interface Seen {
  entries: number;
  events: number;
  inputs: Set<string>;
  operations: Set<string>;
  ended: Set<string>;
}

const terminal = /^request_(completed|failed|cancelled)$/;

/** What holds in the database after each statement, checked for the threads that the statement names. */
export class Invariants {
  readonly #seen = new Map<string, Seen>();

  constructor(
    private readonly inside: Inside,
    private readonly report: (check: string, what: string) => void,
  ) {}

  check(statement: Statement): void {
    for (const id of threadsOf(statement)) {
      const thread = this.inside.threads.get(id);
      if (!thread) continue;
      this.#checkLog(thread, this.#seenOf(id));
      this.#checkRuns(thread, this.#seenOf(id));
    }
  }

  #checkLog(thread: Thread, seen: Seen): void {
    for (; seen.entries < thread.entries.length; seen.entries++) {
      const { seq, op_id: operation, refs } = thread.entries[seen.entries]!;
      if (seq !== seen.entries)
        this.report('inside:gapless', `entry ${seen.entries} of ${thread.id} has the seq ${seq}`);
      const input = refs['input_id'] as string | undefined;
      if (input !== undefined) this.#once(seen.inputs, input, `input ${input} is in the log of ${thread.id}`);
      if (operation !== null) this.#once(seen.operations, operation, `${operation} is in the log of ${thread.id}`);
    }
    for (const { id, status } of thread.inputs.values())
      if (seen.inputs.has(id) !== (status === 'injected'))
        this.report('inside:inputs', `input ${id} is ${status}, and ${seen.inputs.has(id) ? '' : 'not '}in the log`);
    for (const [id, { status }] of thread.operations)
      if (seen.operations.has(id) !== (status === 'applied'))
        this.report('inside:operations', `operation ${id} is ${status}, and the log says otherwise`);
  }

  #checkRuns(thread: Thread, seen: Seen): void {
    for (; seen.events < thread.events.length; seen.events++) {
      const { run_id: run, kind } = thread.events[seen.events]!;
      if (terminal.test(kind)) this.#once(seen.ended, run, `${run} has an end`);
    }
    const active = thread.runs.filter((run) => run.active).map(({ id }) => id);
    if (active.length > 1 || (active[0] ?? null) !== thread.active_run_id)
      this.report(
        'inside:one-active-run',
        `${thread.id} names ${thread.active_run_id}, but ${active.join(', ')} is active`,
      );
    for (const run of thread.runs) {
      const { id, status } = run;
      if (hasEnded(run) !== seen.ended.has(id))
        this.report('inside:one-end', `${id} is ${status}, and the trace says otherwise`);
      if ((status === 'running') !== (run.lease_until !== null)) this.report('inside:leases', `${id} is ${status}`);
      if (status === 'waiting' && thread.active_run_id === null)
        this.report('inside:promoted', `${id} waits for no run`);
    }
  }

  #once(seen: Set<string>, id: string, what: string): void {
    if (seen.has(id)) this.report('inside:once', `${what} twice`);
    seen.add(id);
  }

  #seenOf(id: string): Seen {
    const known = this.#seen.get(id) ?? {
      entries: 0,
      events: 0,
      inputs: new Set(),
      operations: new Set(),
      ended: new Set(),
    };
    this.#seen.set(id, known);
    return known;
  }
}

/** The threads that a statement may have changed. */
function threadsOf({ name, values }: Statement): Iterable<string> {
  const [first] = values;
  if (typeof first !== 'string' || name.startsWith('find_')) return [];
  if (!first.startsWith('[')) return [first];
  return new Set((JSON.parse(first) as Body[]).flatMap(({ thread_id }) => (thread_id as string | undefined) ?? []));
}
