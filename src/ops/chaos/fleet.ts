import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../base/environment.ts';
import { startProxy, type Proxy } from './services/proxy.ts';
import { parseJson } from '../../base/common/json.ts';
import { after, delay } from '../../base/common/timer.ts';
import type { WorkerOptions } from '../../worker/process/options.ts';

/** A position in the fleet: one worker process at a time, behind proxies that outlive it. */
export interface Slot {
  proxies: Proxy[];
  process: ChildProcess;
  /** Undefined until the process accepts jobs. */
  workerId: string | undefined;
  /** A fault is in progress here, so no other is injected. */
  busy: boolean;
}

interface FleetOptions {
  size: number;
  postgresPort: () => number;
  redisPort?: (() => number) | undefined;
  /** The options of a worker behind these ports. */
  worker: (postgresPort: number, redisPort: number | undefined) => ChaosWorkerOptions;
  /** Receives the stderr of all workers. */
  logFile: string;
}

/** The worker processes of a campaign. A process that exits is replaced immediately. */
export class Fleet {
  readonly slots: Slot[] = [];
  /** Process id by worker id, for all workers of the campaign. */
  readonly pids = new Map<string, number>();
  kills = 0;
  /** Exits that the campaign did not cause. */
  readonly unexpectedExits: string[] = [];
  #stopped = false;
  readonly #log: number;

  private constructor(readonly options: FleetOptions) {
    this.#log = openSync(options.logFile, 'a');
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    for (let i = 0; i < options.size; i++) {
      const ports = [options.postgresPort, ...(options.redisPort ? [options.redisPort] : [])];
      const proxies = await Promise.all(ports.map((port) => startProxy(() => ({ port: port() }))));
      const slot: Slot = { proxies, process: undefined as never, workerId: undefined, busy: false };
      fleet.slots.push(slot);
      fleet.#spawn(slot);
    }
    return fleet;
  }

  /** Resolves once each place has a worker that accepts jobs, or when the signal aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.slots.some(({ workerId }) => workerId === undefined)) await delay(50);
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(slot: Slot): Promise<void> {
    const { process: child } = slot;
    if (child.exitCode !== null || child.signalCode !== null) return;
    this.kills += 1;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.slots.map((slot) => this.kill(slot)));
    await Promise.all(this.slots.flatMap((slot) => slot.proxies.map((proxy) => proxy.close())));
  }

  #spawn(slot: Slot): void {
    const [postgres, redis] = slot.proxies;
    const options = this.options.worker(postgres!.port, redis?.port);
    // start the worker from sources or build, to match this file
    const built = !import.meta.filename.endsWith('.ts');
    const entry = path.join(packageRoot, built ? 'dist/workers/chaos.js' : 'workers/chaos.ts');
    const loader = built ? [] : ['--import', import.meta.resolve('tsx')];
    const child = spawn(process.execPath, [...loader, entry], {
      env: {
        ...process.env,
        TSX_TSCONFIG_PATH: path.join(packageRoot, 'tsconfig.json'),
        CHAOS_WORKER: JSON.stringify(options),
      },
      stdio: ['pipe', 'pipe', this.#log],
    });
    slot.process = child;
    let wasReady = false;
    slot.workerId = undefined;
    child.stdin!.on('error', () => {});
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (slot.process !== child || !line.startsWith('{"worker_id"')) return;
      slot.workerId = (parseJson(line) as ChaosWorkerReady).worker_id;
      this.pids.set(slot.workerId, child.pid!);
      wasReady = true;
    });
    child.once('exit', (code, signal) => {
      slot.workerId = undefined;
      // a worker may exit if it starts while the database is down; its supervisor restarts it
      if (signal !== 'SIGKILL' && wasReady && !this.#stopped)
        this.unexpectedExits.push(`pid ${child.pid} with ${signal ?? `code ${code}`}`);
      if (!this.#stopped) after(signal === 'SIGKILL' ? 0 : 300, () => this.#stopped || this.#spawn(slot));
    });
  }
}

/** The options of a campaign's worker process, passed as JSON in `CHAOS_WORKER`. */
export interface ChaosWorkerOptions {
  databaseUrl: string;
  redisUrl: string | null;
  worker: Pick<WorkerOptions, 'leaseMs' | 'sweepMs' | 'cancelGraceMs' | 'concurrency' | 'webhookTimeoutMs'>;
  /** Folder of the journal that the tools write, and of the history. */
  journal: string;
  /** Of the campaign's provider; absent if `agents` is set. */
  providerUrl?: string;
  /** The user's agents module; default: the built-in agents. */
  agents?: string;
}

/** The line of JSON that a worker process prints on stdout once it accepts jobs. */
export interface ChaosWorkerReady {
  worker_id: string;
}
