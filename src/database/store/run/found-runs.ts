import type { RunFilter, RunStatus } from './types.ts';
import type { Database } from '../../postgres/pool.ts';
import { Conditions, statementName } from '../rows.ts';
import type { Narrowed } from '../log/few-threads.ts';
import { containedIn, contains, wrote, wroteIn } from '../log/of-threads.ts';
import { tenantIs } from '../tenant/tenant-settings.ts';

const keyColumns = ['created_at', 'thread_id', 'id'];
/** What conditions on the runs of a window use, and what a list shows of them. */
const filtered = [
  ...[
    'status',
    'active',
    'finished_at',
    'started_at',
    'start_at',
    'limited_by',
    'agent_unknown_since',
    'termination_reason',
  ],
  ...[
    'tenant_id',
    'agent',
    'agent_version',
    'model',
    'error',
    'usage',
    'options',
    'answered',
    'notable',
    'input',
    'user_seq',
  ],
];

const noChild = "not coalesce(options ? 'parent', false)";
const unindexed: ReadonlySet<RunStatus> = new Set(['completed', 'cancelled']);

/** The statement that finds runs by a filter: in an index what it can serve, and among those what it cannot. */
export class FoundRuns {
  readonly #byMark: boolean;
  readonly indexed = new Conditions();
  #also: Conditions | undefined;
  readonly #filter: Narrowed<RunFilter>;
  readonly #tenantIs: string;

  constructor(db: Database, filter: Narrowed<RunFilter>) {
    this.#filter = filter;
    this.#tenantIs = tenantIs(db, '$');
    this.#byMark = filter.mark !== undefined;
    this.indexed
      .add('t', 'thread_id = $', filter.threadId)
      .add('f', 'created_at >= $', filter.createdAfter)
      .add('b', 'created_at < $', filter.createdBefore)
      .add('a', 'agent = $', filter.agent)
      .add('k', 'kind = $', filter.mark)
      .add('K', 'thread_id = any ($)', filter.among)
      .addVaried(
        'm',
        `thread_id in (select t.id from lanefold.thread t where t.${contains})`,
        filter.metadata && JSON.stringify(filter.metadata),
      )
      .addVaried('x', `thread_id in (${wrote})`, filter.text);
    if (!this.#byMark) this.#addState(this.indexed);
    // most runs are no children
    if (!this.#byMark && filter.children === false) this.indexed.fixed('C', noChild);
  }

  #addState(where: Conditions): void {
    const { status, waitingFor } = this.#filter;
    // no index finds these: they are looked for in a window
    if (status && !unindexed.has(status)) narrow(where.add('s', 'status = $', status), status);
    if (waitingFor) where.fixed(`(${waitingFor})`, waiting[waitingFor]);
  }

  /** The conditions on the columns of the window; asked for once all others are known, whose parameters come first. */
  get also(): Conditions {
    this.#also ??= this.#beside(this.indexed.values);
    return this.#also;
  }

  #beside(values: readonly unknown[]): Conditions {
    const filter = this.#filter;
    const also = new Conditions();
    also.values.push(...values);
    if (this.#byMark) this.#addState(also);
    also
      .add('S', 'status = $', unindexed.has(filter.status!) ? filter.status : undefined)
      .add('V', 'agent_version = $', filter.version)
      .add('M', 'model = $', filter.model)
      .add('E', "error ->> 'type' = $", filter.errorType)
      .add('A', 'answered = $', filter.answered)
      .add('T', this.#tenantIs, filter.tenantId)
      .add('X', wroteIn('_run.thread_id'), filter.broad?.text)
      .add('O', containedIn('_run.thread_id'), filter.broad?.metadata && JSON.stringify(filter.broad.metadata))
      .add('U', "(usage ->> 'total_tokens')::bigint >= $", filter.minTokens);
    if (this.#byMark && filter.children === false) also.fixed('C', noChild);
    return also;
  }

  /** Whether the index alone finds the runs, so that no window has to be examined. */
  get isIndexed(): boolean {
    return this.#beside([]).key === '';
  }

  /** Whether its words or metadata find many threads. */
  get isBroad(): boolean {
    return this.#filter.broad?.text !== undefined || this.#filter.broad?.metadata !== undefined;
  }

  /** The name of a statement with all conditions; see `statementName`. */
  named(statement: string): string {
    return statementName(statement, this.indexed.key, this.also.key);
  }

  /** SQL: the keys that the index finds. */
  get keys(): string {
    const table = this.#byMark
      ? '(select created_at, thread_id, run_id as id, agent, kind from lanefold._run_mark) m'
      : 'lanefold._run';
    return `select created_at, thread_id, id from ${table} where ${this.indexed}`;
  }

  /** SQL: the runs that the index finds, with the columns that filters need; `bound`: which of them. */
  window(bound: string): string {
    if (!this.#byMark)
      return `select ${[...keyColumns, ...filtered].join(', ')} from lanefold._run where ${this.indexed} ${bound}`;
    // the keys come first, in their order, so that a page reads no more runs than it needs
    return `select ${keyColumns.map((name) => `m.${name}`).join(', ')}, ${filtered.map((name) => `r.${name}`).join(', ')}
      from (${this.keys} ${bound}) m join lanefold._run r on r.thread_id = m.thread_id and r.id = m.id`;
  }
}

/**
 * Narrows a status to the small indexes of unfinished and failed runs. No index has the status itself, because it would
 * have to change too often.
 */
function narrow(where: Conditions, status: RunStatus): void {
  if (status === 'waiting') where.fixed('w', 'not active and finished_at is null');
  else if (status === 'failed') where.fixed('e', "error is not null and termination_reason <> 'cancelled'");
  else where.fixed('l', 'active');
}

const openWait = (kind: string): string =>
  `active and status = 'suspended' and exists (select from lanefold._wait w
    where w.thread_id = _run.thread_id and w.run_id = _run.id and w.status = 'open' and w.kind = '${kind}')`;

/** SQL, on `_run`: what a run may wait for. */
export const waiting: Record<NonNullable<RunFilter['waitingFor']>, string> = {
  approval: openWait('approval'),
  event: openWait('event'),
  time: openWait('time'),
  agent: openWait('run'),
  run: 'not active and finished_at is null',
  limit: "limited_by is not null and status = 'queued'",
  worker: "active and status = 'queued' and limited_by is null and agent_unknown_since is not null",
  start_at: `active and status = 'queued' and limited_by is null and agent_unknown_since is null and started_at is null
    and start_at > lanefold._now()`,
};
