import type { Stall } from '../../store/worker/report-worker.ts';
import { pulse } from './pulse.ts';

interface Usage {
  at: number;
  /** Time on the processors, of all threads. */
  cpuMs: number;
  /** Time in which the process ran, whether it used a processor or slept. */
  aliveMs: number;
}

/** More than a database that does not hear this worker could miss. */
const mostKept = 20;

/**
 * Notices when the event loop stands still for as long as a lease, and why. If a call does not yield, the process runs
 * meanwhile: it uses the processor, or its other threads do not sleep. Nothing runs in a process that was stopped, or whose
 * machine was.
 */
export class Stalls {
  #last = usage();
  #untold: { kind: Stall['kind']; from: number; to: number }[] = [];

  constructor(private readonly leaseMs: number) {}

  /** Call at least twice per lease. */
  look(): void {
    const before = this.#last;
    const now = (this.#last = usage());
    if (now.at - before.at < this.leaseMs) return;
    // between two looks, a loop that turns computes for a third of a lease at most, also if the process is frozen then
    const ranMs = Math.max(now.cpuMs - before.cpuMs, now.aliveMs - before.aliveMs);
    const kind = ranMs >= this.leaseMs / 2 ? 'busy' : 'frozen';
    this.#untold = [...this.#untold, { kind, from: before.at, to: now.at } as const].slice(-mostKept);
  }

  /** The stalls that the database does not know. */
  get untold(): Stall[] {
    const now = performance.now();
    return this.#untold.map(({ kind, from, to }) => ({ kind, fromMs: now - from, toMs: now - to }));
  }

  /** Forgets the oldest stalls: the database knows them. */
  told(count: number): void {
    this.#untold = this.#untold.slice(count);
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), cpuMs: (user + system) / 1_000, aliveMs: pulse.aliveMs() };
}
