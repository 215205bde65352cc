import { randomOf } from './random.ts';
import type { RunKey } from './observer.ts';

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
