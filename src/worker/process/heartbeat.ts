import type { AgentRegistry, ReadyAgent } from '../../agent/definition/registry.ts';
import type { AgentVersion } from '../../agent/definition/version.ts';
import {
  reportWorker,
  type Capabilities,
  type Stall,
  type WorkerReport,
} from '../../database/store/worker/find-lacking.ts';
import { executable } from '../run/open-run.ts';
import { Worker } from 'node:worker_threads';
import { hostname } from 'node:os';
import { packageVersion } from '../../base/environment.ts';
import type { Database } from '../../database/postgres/pool.ts';

/** Often enough for the shortest lease. */
const beatMs = 100;

/** Counts its beats in memory that it shares with the event loop, and does nothing else. */
const program = `
  const beats = new Int32Array(require('node:worker_threads').workerData);
  setInterval(() => Atomics.add(beats, 0, 1), ${beatMs});
`;

let beats: Int32Array | undefined;

/** One thread for all workers of this process, from the first question on. It does not keep the process alive. */
function start(): Int32Array {
  const memory = new SharedArrayBuffer(4);
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
  // without a thread, nothing is counted
  new Worker(program, { eval: true, workerData: memory, execArgv: [], env: {}, resourceLimits })
    .on('error', () => {})
    .unref();
  return new Int32Array(memory);
}

/**
 * How long this process has been running beside its event loop, in ms: the time passes while a call does not yield, and
 * stands still while the process is stopped, or its machine is. A simulation replaces it.
 */
export const pulse = { aliveMs: (): number => Atomics.load((beats ??= start()), 0) * beatMs };

interface Usage {
  at: number;
  /** Time on the processors, of all threads. */
  cpuMs: number;
  /** Time in which the process ran, whether it used a processor or slept. */
  aliveMs: number;
}

/** More than a database that does not hear this worker could miss. */
const maxKept = 20;

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
    this.#untold = [...this.#untold, { kind, from: before.at, to: now.at } as const].slice(-maxKept);
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

/** The fields of a report that change while the worker runs. */
type Now = Pick<WorkerReport, 'runsHeld' | 'draining'>;

/**
 * Shows that a worker is alive. Its heartbeats ride on every second lease renewal, so one is sent every two thirds of a
 * lease. A worker that misses three heartbeats, which takes two leases, counts as dead.
 */
export class Heartbeat {
  readonly #facts: Omit<WorkerReport, keyof Now | 'stopped' | 'stalls'>;
  readonly #stalls: Stalls;
  #sentAt = -Infinity;

  constructor(
    worker: Capabilities & { id: string; queue: string; concurrency: number },
    readonly leaseMs: number,
    readonly now: () => Now,
  ) {
    this.#facts = {
      ...worker,
      host: hostname(),
      pid: process.pid,
      version: packageVersion(),
      deadAfterMs: 2 * leaseMs,
    };
    this.#stalls = new Stalls(leaseMs);
  }

  /** Notes whether the event loop stood still: call at least twice per lease. */
  look(): void {
    this.#stalls.look();
  }

  /** The heartbeat for the next renewal, if one is due. */
  due(): WorkerReport | undefined {
    return performance.now() - this.#sentAt < this.leaseMs / 2 ? undefined : this.#report();
  }

  /** Call when a renewal that carried a heartbeat was answered. */
  sent({ stalls }: WorkerReport): void {
    this.#sentAt = performance.now();
    this.#stalls.told(stalls.length);
  }

  /** Sends a heartbeat if the database does not know yet that this worker stood still. */
  async tellStalls(db: Database): Promise<void> {
    this.look();
    if (this.#stalls.untold.length > 0) await this.send(db);
  }

  /** Sends a heartbeat at once: at the start, when the worker stops taking runs, and when it has `stopped`. */
  async send(db: Database, { stopped = false } = {}): Promise<void> {
    const report = { ...this.#report(), stopped };
    await reportWorker(db, report);
    this.sent(report);
  }

  #report(): WorkerReport {
    return { ...this.#facts, ...this.now(), stopped: false, stalls: this.#stalls.untold };
  }
}

/** The versions of all agents of a process. */
export const allVersions = (agents: AgentRegistry): AgentVersion[] =>
  agents.names.flatMap((name) => agents.versions(name)).map(({ version }) => version);

/** What a worker with these agents can execute. */
export const capabilitiesOf = (agents: AgentRegistry): Capabilities => ({
  agents: agents.names,
  strategies: executable(agents),
  versions: allVersions(agents).flatMap(namesOf),
  tools: [...agents.names.flatMap((name) => toolsOf(agents.versions(name))), ...namedOf('', agents.extraTools)],
});

const namesOf = ({ agent, id, label }: AgentVersion): string[] =>
  label === undefined ? [`${agent}@${id}`] : [`${agent}@${label}`, `${agent}@${id}`];

/** The first version also serves runs that want none. */
const toolsOf = (versions: readonly ReadyAgent[]): string[] =>
  versions.flatMap(({ name, version, tools }, place) =>
    [...(place === 0 ? [name] : []), ...namesOf(version)].flatMap((owner) => namedOf(owner, tools)),
  );

const namedOf = (owner: string, tools: ReadonlyMap<string, unknown>): string[] =>
  [...tools.keys()].map((tool) => `${owner}+${tool}`);
