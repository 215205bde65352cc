/** A process that executes runs of one system: warms up, then measures at any concurrency or at a steady rate. */
import { pathToFileURL } from 'node:url';
import { watchPauses, type Pauses } from '../support/pauses.ts';
import { givenOptions, serve } from '../support/serve.ts';
import { startSteadyLoad, type LoadInterval, type SteadyLoad } from '../support/steady-load.ts';
import type { System, SystemModule, SystemOptions } from '../systems/system.ts';

export interface Measurement {
  runs: number;
  seconds: number;
  /** CPU time of this process. */
  nodeCpuMs: number;
  /** Statements per run, by name. */
  statements?: Record<string, number>;
  /** From the request of each run until its end is known. */
  runsMs: number[];
  /** Of each run. */
  firstCallsMs?: number[];
  pauses?: Pauses;
}

const { file, ...options } = givenOptions<SystemOptions & { file: string }>();
let system: System;

export interface MeasureOptions {
  seconds: number;
  concurrency: number;
  /** Runs executed together in each call. */
  together?: number;
  /** Also watch the event loop, which costs some CPU. */
  pauses?: boolean;
}

/** What is measured, for a given time. */
export type Load = Omit<MeasureOptions, 'seconds'>;

async function measure({ seconds, concurrency, together = 1, pauses }: MeasureOptions): Promise<Measurement> {
  const watched = pauses ? watchPauses() : undefined;
  const before = { ...system.statements };
  const callsBefore = system.firstCallsMs?.length;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  let runs = 0;
  const runsMs: number[] = [];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      do {
        const requestedAt = performance.now();
        await system.run(together);
        runsMs.push(performance.now() - requestedAt);
        runs += together;
      } while (performance.now() < startedAt + seconds * 1_000);
    }),
  );
  const took = (performance.now() - startedAt) / 1_000;
  const { user, system: kernel } = process.cpuUsage(cpuBefore);
  const perRun = Object.entries(system.statements ?? {})
    .map(([name, count]) => [name, (count - (before[name] ?? 0)) / runs] as const)
    .filter(([, count]) => count > 0);
  return {
    runs,
    runsMs,
    seconds: took,
    nodeCpuMs: (user + kernel) / 1_000,
    ...(system.statements ? { statements: Object.fromEntries(perRun) } : {}),
    ...(system.firstCallsMs ? { firstCallsMs: system.firstCallsMs.slice(callsBefore) } : {}),
    ...(watched ? { pauses: watched() } : {}),
  };
}

/** Also the CPU time of this process. */
export type SteadyInterval = LoadInterval & { nodeCpuMs: number };

let load: SteadyLoad | undefined;
let spent = process.cpuUsage();

serve({
  async ready() {
    const { open } = (await import(pathToFileURL(file).href)) as SystemModule;
    system = await open(options);
  },
  measure,
  start({ runsPerSecond }: { runsPerSecond: number }) {
    load = startSteadyLoad(() => system.run(), runsPerSecond);
    spent = process.cpuUsage();
  },
  interval(): SteadyInterval {
    const { user, system: kernel } = process.cpuUsage(spent);
    spent = process.cpuUsage();
    return { ...load!.interval(), nodeCpuMs: (user + kernel) / 1_000 };
  },
  rest: () => load!.stop(),
  stop: () => system.close(),
});
