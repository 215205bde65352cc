import pg from 'pg';
import { isConnectionError } from '../../database/postgres/errors.ts';
import { delay } from '../../base/common/timer.ts';

/** The kinds of fault and their relative frequencies. */
const shares = {
  /** SIGKILL of a worker. */
  kill: 34,
  /** SIGSTOP of a worker for longer than its lease, then SIGCONT: it resumes as a zombie. */
  stop: 20,
  /** The proxy of a worker drops responses, or all traffic, and then resets the connections. */
  cut: 20,
  /** The queue loses all data: FLUSHALL, or TRUNCATE of BullMQ's tables. */
  flush: 10,
  /** Immediate shutdown of PostgreSQL, then recovery from its write-ahead log. */
  postgres: 8,
  /** Immediate shutdown of PostgreSQL for good: its synchronous standby takes over. */
  failover: 4,
  /** SIGKILL of Redis, which has no persistence, and a restart. */
  redis: 6,
  /** Idle clients exhaust `max_connections` while a worker loses its connections. */
  pool: 8,
} as const;

export type FaultKind = keyof typeof shares;

export const faultKinds = Object.keys(shares) as FaultKind[];

/** The subset of `kinds` that applies to a queue backend. */
export const kindsFor = (queue: 'postgres' | 'redis', kinds: readonly FaultKind[]): FaultKind[] =>
  kinds.filter((kind) => kind !== 'redis' || queue === 'redis');

/** A planned fault. Durations are in leases, so that a schedule is the same at every scale. */
export interface PlannedFault {
  kind: FaultKind;
  /** Pause before the fault. */
  gapLeases: number;
  /** Duration of a fault that lasts. */
  holdLeases: number;
  /** From 0 to 1: selects one of the workers that hold runs. */
  target: number;
  /** `cut`: drops responses only, so that statements commit and the worker never learns it. */
  responsesOnly: boolean;
}

/** An endless sequence of faults that depends only on the seed and the kinds. */
export function* planFaults(seed: number, kinds: readonly FaultKind[]): Generator<PlannedFault, never> {
  const random = randomOf(seed, 'schedule');
  const total = kinds.reduce((sum, kind) => sum + shares[kind], 0);
  for (;;) {
    let at = random.next() * total;
    const kind = kinds.find((candidate) => (at -= shares[candidate]) < 0) ?? kinds[0]!;
    yield {
      kind,
      gapLeases: 0.1 + random.next() * 0.5,
      holdLeases: 0.3 + random.next() * (kind === 'stop' ? 2 : 1.2),
      target: random.next(),
      responsesOnly: random.chance(0.5),
    };
  }
}

/** One injected fault that hit at least one active run. */
export interface Scenario {
  no: number;
  kind: FaultKind;
  /** When the fault began, in milliseconds since the epoch. */
  at: number;
  hit: RunKey[];
}

/** The default intervals of a worker multiplied by `scale`, in milliseconds. */
export const scaled = (scale: number) => ({
  leaseMs: Math.round(6_000 * scale),
  sweepMs: Math.round(2_000 * scale),
  cancelGraceMs: Math.round(5_000 * scale),
});

/** A random sequence that depends only on its seed and label, on every machine. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** An integer; both bounds are inclusive. */
  int(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Mulberry32, seeded with FNV-1a of seed and label so that each label has an independent sequence. */
export function randomOf(seed: number, label: string): Random {
  let state = 0x811c9dc5;
  for (const char of `${seed} ${label}`) state = Math.imul(state ^ char.codePointAt(0)!, 0x01000193);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    int: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick: (list) => list[Math.floor(next() * list.length)]!,
  };
}

export interface RunKey {
  threadId: string;
  id: string;
}

/** A superuser connection that bypasses proxies and connection limits, and reconnects after restarts. */
export class Observer {
  #client: pg.Client | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly url: () => string) {}

  /** Runs queries one at a time on a single connection, which is replaced when it breaks. */
  query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const result = this.#last.then(() => this.#queryWithRetry<Row>(text, values));
    this.#last = result.catch(() => {});
    return result;
  }

  async runsHeldBy(workerId: string): Promise<RunKey[]> {
    return this.query<{ threadId: string; id: string }>(
      `select thread_id as "threadId", id from lanefold.run where status = 'running' and worker_id = $1`,
      [workerId],
    );
  }

  /** The runs that a worker holds or could hold: those that are queued and do not wait for a limit. */
  async activeRuns(): Promise<RunKey[]> {
    return this.query<{ threadId: string; id: string }>(
      `select thread_id as "threadId", id from lanefold.run where status in ('queued', 'running') and limited_by is null`,
    );
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#client?.end().catch(() => {});
  }

  async #queryWithRetry<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    for (let left = 300; ; left--) {
      try {
        this.#client ??= await this.#connect();
        return (await this.#client.query<Row>(text, values)).rows;
      } catch (error) {
        if (!isConnectionError(error) || left === 0) throw error;
        this.#client?.end().catch(() => {});
        this.#client = undefined;
        await delay(50);
      }
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url(), application_name: 'lanefold chaos' });
    client.on('error', () => {});
    await client.connect();
    return client;
  }
}
