import type { DirectWorker } from '../runs/operations/runs/enqueue-request.ts';
import { startChild } from '../runs/operations/runs/enqueue.ts';
import type { LimitGate } from '../runs/limiter/gate.ts';
import type { WorkerDependencies } from '../worker/process/open-worker.ts';
import type { StartPart } from '../worker/part.ts';
import type { RunningWorker, WorkerOptions } from '../worker/process/options.ts';
import type { assemble } from './assemble.ts';
import type { Connections } from './connect.ts';
import type { LanefoldSettings } from './settings.ts';
import type { Library } from '../features/library/library.ts';
import type { RunningServer, ServerOptions } from '../server/options.ts';

/** What a worker builds on in its process. */
export interface WorkerHost extends Omit<ReturnType<typeof assemble>, 'library'> {
  settings: LanefoldSettings;
  connections: Connections;
  gate: LimitGate;
  directWorkers?: Set<DirectWorker>;
}

/** Starts a worker with what all features do in it. Loads both on demand: a process without a worker needs neither. */
export async function startFullWorker(process: WorkerHost, options: WorkerOptions): Promise<RunningWorker> {
  const { host, connections } = process;
  const [{ startWorker }, ...parts] = await Promise.all([
    import('../worker/process/worker.ts'),
    ...host.features.flatMap((feature) => feature.loadPart?.() ?? []),
  ]);
  for (const feature of host.features) await feature.prepareWorker?.(host);
  const started = parts.map((part) => part(host, options));
  return startWorker(workerDependencies(process, started), connections.queue, options);
}

export const workerDependencies = (
  { settings, connections, host, waiter, live, gate, directWorkers }: WorkerHost,
  parts: readonly StartPart[],
): WorkerDependencies => ({
  db: connections.db,
  connect: connections.openPool,
  directUrl: connections.directUrl,
  agents: settings.agents,
  models: settings.models,
  counting: settings.counting,
  log: settings.log,
  privateQueue: settings.privateQueue,
  promptCaching: settings.promptCaching,
  redactor: settings.redactor,
  telemetry: settings.telemetry,
  directWorkers,
  gate,
  live,
  children: {
    start: (tenant, child, request) => startChild(host.acceptingOn(host.scopeTo(tenant)), child, request),
    cancel: (tenant, run) => host.runsFor(tenant).cancel(run, 'parent_ended'),
  },
  isAwaited: (run) => waiter.awaits(run),
  onHold: (run) => waiter.hold(run),
  onRelease: (run, ended) => waiter.release(run, ended),
  parts,
});

/**
 * Serves the HTTP API, Bull Board and the API reference in this process.
 *
 * @throws LanefoldError `missing_api_key` for a host other than loopback without a key, `port_taken`, `listen_failed`
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent, startServer } from 'lanefold';
 *
 * const lanefold = await createLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
 * const server = await startServer(lanefold, { port: 0 });
 * console.log(`${server.url}/docs`);
 * await server.close();
 * await lanefold.close();
 * ```
 */
export async function startServer(lanefold: Library, options: ServerOptions = {}): Promise<RunningServer> {
  // Imported on demand, so that a process without an API does not load it.
  const [{ serve }, { createApp }] = await Promise.all([import('../server/server.ts'), import('../doors/app.ts')]);
  return serve(createApp, lanefold, options);
}
