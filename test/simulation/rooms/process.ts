import type { AgentRegistry } from '../../../src/agent/definition/registry.ts';
import { createKeyRedactor } from '../../../src/base/redaction/sensitive-keys.ts';
import { DeliveryNotices } from '../../../src/database/store/call-function.ts';
import type { Library } from '../../../src/features/library/library.ts';
import { assemble } from '../../../src/lanefold/assemble.ts';
import { circuitRule } from '../../../src/features/circuits/rule.ts';
import { Closers } from '../../../src/lanefold/closers.ts';
import type { Connections } from '../../../src/lanefold/connect.ts';
import { featuresOf } from '../../../src/lanefold/features.ts';
import type { LanefoldSettings } from '../../../src/lanefold/settings.ts';
import { workerDependencies } from '../../../src/lanefold/start-worker.ts';
import { LimitGate } from '../../../src/runs/limiter/gate.ts';
import type { RunQueue } from '../../../src/runs/queue/queue.ts';
import type { WorkerDependencies } from '../../../src/worker/process/open-worker.ts';
import { silent } from '../processes/worker.ts';
import type { Actor } from '../world/network.ts';
import { counting, models } from './agents.ts';

/** Circuits that a few failures open, so that simulations see many of their turns, and runs whose model never answers end soon. */
const sensitive = { windowMs: 10_000, minCalls: 3, openMs: 1_000, probeMs: 5_000, patienceMs: 60_000 };
const ofFeatures = {
  schedules: undefined,
  scorers: [],
  privateWebhooks: true,
  circuits: { ...circuitRule()!, ...sensitive },
};

/** Loaded here, because that takes real time. */
const parts = await Promise.all(featuresOf(ofFeatures).flatMap((feature) => feature.loadPart?.() ?? []));

const redactor = createKeyRedactor();

/** The library of a process with these agents, and what its worker depends on, as `createLanefold` puts them together. */
export function openProcess(
  { db }: Actor,
  queue: RunQueue,
  agents: AgentRegistry,
  onError: (error: unknown) => void,
): { library: Omit<Library, 'work'>; worker: WorkerDependencies } {
  const deliveryNotices = new DeliveryNotices(db);
  db.settings.deliveriesDue = () => deliveryNotices.due();
  const gate = new LimitGate(db, queue, onError);
  const settings = {
    ...ofFeatures,
    agents,
    counting: counting(),
    log: silent,
    models,
    privateQueue: false,
    promptCaching: false,
    redactor,
    secrets: [],
    unattendedMs: 5_000,
  } as unknown as LanefoldSettings;
  const rights = { bypasses: true, owner: 'owner', ownerBypasses: true, isOwner: true };
  const connections = {
    db,
    databaseUrl: '',
    queue,
    queueOptions: { databaseUrl: '' },
    rights,
    deliveryNotices,
    openPool: () => db,
  } as unknown as Connections;
  const { library, ...own } = assemble(settings, connections, new Closers(), { directWorkers: [], gate });
  const { live: _, ...worker } = workerDependencies(
    { ...own, settings, connections, gate },
    parts.map((part) => part(own.host, {})),
  );
  // no reader follows these runs
  return { library, worker: { ...worker, isAwaited: () => false, onHold: () => {}, onRelease: () => {} } };
}
