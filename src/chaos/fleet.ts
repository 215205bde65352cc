import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../package-root.ts';
import { startProxy, type Proxy } from './services/proxy.ts';
import type { ChaosWorkerOptions, ChaosWorkerReady } from './worker-options.ts';

/** A place in the fleet: a worker process at a time, behind proxies that stay. */
export interface Slot {
  proxies: Proxy[];
  process: ChildProcess;
  /** Undefined until the process takes work. */
  workerId: string | undefined;
  /** A fault is at work on it: no other one is given to it. */
  busy: boolean;
}

export interface FleetOptions {
  size: number;
  postgresPort: () => number;
  redisPort?: (() => number) | undefined;
  /** The worker's options for its ports. */
  worker: (postgresPort: number, redisPort: number | undefined) => ChaosWorkerOptions;
  /** Takes what workers say on stderr. */
  logFile: string;
}

/** The worker processes of a campaign. One that dies is replaced at once. */
export class Fleet {
  readonly slots: Slot[] = [];
  /** Process id by worker id, of every worker there ever was. */
  readonly pids = new Map<string, number>();
  kills = 0;
  /** Deaths that nobody ordered: a fault of the product. */
  readonly ownDeaths: string[] = [];
  #stopped = false;
  readonly #log: number;

  private constructor(readonly options: FleetOptions) {
    this.#log = openSync(options.logFile, 'a');
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    for (let i = 0; i < options.size; i++) {
      const targets = [options.postgresPort, ...(options.redisPort ? [options.redisPort] : [])];
      const proxies = await Promise.all(targets.map((target) => startProxy(target)));
      const slot: Slot = { proxies, process: undefined as never, workerId: undefined, busy: false };
      fleet.slots.push(slot);
      fleet.#spawn(slot);
    }
    return fleet;
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
    // run from the sources or from the build, as this file is
    const extension = path.extname(import.meta.filename);
    const entry = path.resolve(import.meta.dirname, `../../workers/chaos${extension}`);
    const loader = extension === '.ts' ? ['--import', import.meta.resolve('tsx')] : [];
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
      slot.workerId = (JSON.parse(line) as ChaosWorkerReady).worker_id;
      this.pids.set(slot.workerId, child.pid!);
      wasReady = true;
    });
    child.once('exit', (code, signal) => {
      slot.workerId = undefined;
      // before it takes work a worker ends when it finds no database, as its supervisor expects of it
      if (signal !== 'SIGKILL' && wasReady && !this.#stopped)
        this.ownDeaths.push(`pid ${child.pid} with ${signal ?? `code ${code}`}`);
      if (!this.#stopped) setTimeout(() => this.#stopped || this.#spawn(slot), signal === 'SIGKILL' ? 0 : 300);
    });
  }
}
