import { randomOf } from './random.ts';

/** What can be done to a fleet, with its share of a campaign. */
const shares = {
  /** SIGKILL of a worker. */
  kill: 34,
  /** SIGSTOP of a worker for longer than its lease, then SIGCONT: it wakes up as a zombie. */
  stop: 20,
  /** The connections of a worker go silent, then break: the proxy loses answers, or everything. */
  cut: 20,
  /** Every byte of the queue is lost: FLUSHALL, or BullMQ's tables emptied. */
  flush: 10,
  /** Immediate shutdown of PostgreSQL and a start from its write-ahead log. */
  postgres: 8,
  /** SIGKILL of Redis, which has nothing on disk, and a new one. */
  redis: 6,
  /** `max_connections` taken by idle clients while a worker loses its connections. */
  pool: 8,
} as const;

export type FaultKind = keyof typeof shares;

export const faultKinds = Object.keys(shares) as FaultKind[];

/** Those of `kinds` that exist with a queue. */
export const kindsFor = (queue: 'postgres' | 'redis', kinds: readonly FaultKind[]): FaultKind[] =>
  kinds.filter((kind) => kind !== 'redis' || queue === 'redis');

/** One fault as planned. Times are in leases, so that a schedule is the same at every scale. */
export interface PlannedFault {
  kind: FaultKind;
  /** Pause before it. */
  gapLeases: number;
  /** How long it lasts, where it lasts. */
  holdLeases: number;
  /** From 0 to 1, picks among the workers that hold runs. */
  victim: number;
  /** `cut`: only answers are lost, so that commits happen and are not heard of. */
  answersOnly: boolean;
}

/** The faults of a campaign, without end, by its seed alone. */
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
      victim: random.next(),
      answersOnly: random.chance(0.5),
    };
  }
}
