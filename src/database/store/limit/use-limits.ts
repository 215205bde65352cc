import { databaseFunctions } from '../functions.ts';
import { call, callRows } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import type { QueuedRun } from '../run/queued-run.ts';
import type { Limit } from '../../../agent/limits/limit.ts';

/** Amounts by place; see `placeOf`. */
export type Amounts = Readonly<Record<string, number>>;

/** What a run asks for, by place, in the order of the places. */
export type Take = readonly (readonly [place: string, amount: number])[];

/** The job of a run that no worker executes, and what it needs of a worker: its turn comes only if one is alive. */
export interface WaitingJob {
  /** Name of its queue. */
  queue: string;
  enqueue_no: number;
  agent: string;
  /** The fleet whose workers take it; without one, any may. */
  prefix?: string;
  /** A label or an id; absent: any. */
  version?: string;
  /** The strategy that executes the run; absent: any. */
  strategy?: string;
}

/** What a run takes from limits and gives back, as `use_limits` takes it. */
export interface LimitCall {
  thread_id?: string;
  run_id?: string;
  /** Of the limits that `take` was computed from. */
  version?: number;
  take?: Take;
  /** Values of the sharing dimensions, by place. */
  shares?: Readonly<Record<string, string>>;
  job?: WaitingJob;
  /** Its place in line: when it was accepted, and its priority, as in BullMQ. */
  since?: string;
  priority?: number;
  /** The place where its turn has come. */
  granted?: string;
  done?: [place: string, reserved: number, slice: number, used: number, lost?: true][];
  base?: Amounts;
  pause?: true;
  /** Only if no process has touched the account for this long, in ms. */
  idle_ms?: number;
  end?: Amounts;
  drain?: Amounts;
  check?: string[];
}

/** A waiting run whose turn has come at a place. */
export interface ReadyRun {
  place: string;
  thread_id: string;
  run_id: string;
  job: WaitingJob;
}

export interface LimitAnswer {
  ok?: true;
  /** The slices of what was reserved, by place. */
  slices?: Amounts;
  /** Places of limits that give notice, and were passed. */
  passed?: string[];
  /** The limits have changed, and nothing was done. */
  stale?: number;
  /** The place whose limit refuses. */
  refused?: string;
  /** When that limit may let the run continue; absent if only the end of another run can tell. */
  delay_ms?: number;
  /** The limit wants the run to end. */
  ends?: true;
  /** The place whose limit is less than the call needs, which is `most`. */
  impossible?: string;
  most?: number;
  late?: true;
  ready?: ReadyRun[];
  /** The places to check, in so many ms. */
  look?: Amounts;
}

const statement = databaseFunctions.use_limits.text;

/**
 * Calls of this process at the same moment share a statement and a transaction. The next ones wait for it: beside it, they
 * would only wait for its locks.
 */
export const useLimits = async (db: Database, call: LimitCall): Promise<LimitAnswer> =>
  (await db.gather<{ result: LimitAnswer }>('use_limits', statement, JSON.stringify(call), { inFlight: 1 })).result;

/** Accounts examined by a sweep. */
const most = 200;

/**
 * Accounts that no process has touched for a while, longest first, and touches them, so that the next sweep examines
 * others.
 */
export const findIdleAccounts = (db: Database): Promise<{ thread_id: string; run_id: string }[]> =>
  callRows(db.query, 'idle_limit_accounts', { ms: 30_000, most });

/**
 * Runs that hold what other runs wait for, of accounts that no process has touched for this long. A worker that executes
 * a run may hold it so, too.
 */
export const findHoldingAccounts = (db: Database, idleMs: number): Promise<{ thread_id: string; run_id: string }[]> =>
  callRows(db.query, 'holding_limit_accounts', { ms: idleMs, most });

const delayed = `
  select r.thread_id, r.id as run_id, r.agent, r.enqueue_no, r.queue_shard
  from lanefold._run r
  where r.limited_by ? 'limit' and r.limited_by is not null and r.status = 'queued' and r.queue_prefix = $1
    and (r.limited_by ->> 'since')::timestamptz < (select lanefold._now()) - interval '10 seconds'`;
const inLine = (run: string) =>
  `exists (select from lanefold._limit_account a where a.run_id = ${run}.run_id and a.thread_id = ${run}.thread_id and a.wants is not null)`;

/** On a distributed database, the most delayed runs that are looked at. */
const mostDelayed = 5_000;

/** Runs of a fleet that a limit has delayed and that are not in line: their process died before it put them there. */
export async function findUnlinedRuns(db: Database, prefix: string): Promise<QueuedRun[]> {
  if (!db.settings.distributed) {
    const text = `select d.thread_id, d.run_id, d.agent, d.enqueue_no, d.queue_shard from (${delayed}) d where not ${inLine('d')} limit ${most}`;
    return db.queryLong<QueuedRun>('unlined_runs', text, [prefix]);
  }
  // accounts are on the coordinator, runs are not
  const values = [prefix];
  const runs = await search<QueuedRun>(db, 'queryLong', {
    name: 'delayed_runs',
    text: `${delayed} limit ${mostDelayed}`,
    values,
  });
  const text = `select d.thread_id, d.run_id, d.agent, d.enqueue_no, d.queue_shard from jsonb_to_recordset($1) as d (thread_id text, run_id text, agent text, enqueue_no int, queue_shard int)
     where not ${inLine('d')} limit ${most}`;
  return runs.length === 0 ? [] : db.query<QueuedRun>('runs_out_of_line', text, [JSON.stringify(runs)]);
}

/** The key of a bucket: owner, name and key. */
export type BucketId = [owner: string, name: string, key: string];

/** Deletes what no longer counts, a page at a time; see `drop_idle_buckets`. Returns where the next page begins. */
export async function dropIdleBuckets(
  db: Database,
  after: BucketId | null,
  days: number,
  most: number,
): Promise<BucketId | null> {
  return (await call(db.query, 'drop_idle_buckets', { after, days, most })) as BucketId | null;
}

/** All limits, and the number of their newest change. */
export interface CurrentLimits {
  version: number;
  limits: Limit[];
}

/** Reads the limits of all tenants. */
export async function readCurrentLimits(db: Database): Promise<CurrentLimits> {
  const [row] = await db.query<{ version: number; limits: Limit[] | null }>(
    'current_limits',
    `select coalesce(max(version), 0)::float8 as version,
       json_agg(json_build_object('owner', owner, 'name', name, 'kind', kind, 'scope', scope, 'amount', amount, 'amounts', amounts,
         'tokens', tokens, 'perMs', per_ms, 'calendar', calendar, 'timeZone', time_zone, 'shareBy', share_by, 'shares', shares,
         'reserve', reserve,
         'onExhausted', on_exhausted, 'version', version) order by owner, name) filter (where removed_at is null) as limits
     from lanefold._limit`,
  );
  return { version: row!.version, limits: row!.limits ?? [] };
}

/** The buckets that waiting runs need. */
export async function findAwaitedPlaces(db: Database): Promise<string[]> {
  const rows = await db.query<{ place: string }>(
    'awaited_places',
    `select distinct owner || ' ' || name || ' ' || key as place from lanefold._limit_wait`,
  );
  return rows.map(({ place }) => place);
}
