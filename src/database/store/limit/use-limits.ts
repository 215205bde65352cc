import type { Database } from '../../postgres/pool.ts';

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
  /** When that limit may let the run go on; absent if only the end of another run can tell. */
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

const statement = 'select u.result from lanefold.use_limits($1) u';

/**
 * Calls of this process at the same moment share a statement and a transaction. The next ones wait for it: beside it, they
 * would only wait for its locks.
 */
export const useLimits = async (db: Database, call: LimitCall): Promise<LimitAnswer> =>
  (await db.gather<{ result: LimitAnswer }>('use_limits', statement, JSON.stringify(call), { inFlight: 1 })).result;
