import type { AgentRegistry } from '../../../src/agent/definition/registry.ts';
import { assemble } from '../../../src/lanefold/assemble.ts';
import { Closers } from '../../../src/lanefold/closers.ts';
import type { Connections } from '../../../src/lanefold/connect.ts';
import type { LanefoldSettings } from '../../../src/lanefold/settings.ts';
import type { EnqueueOptions } from '../../../src/runs/operations/runs/enqueue.ts';
import type { Library } from '../../../src/features/library/library.ts';
import type { RunQueue } from '../../../src/runs/queue/queue.ts';
import { createKeyRedactor } from '../../../src/base/redaction/sensitive-keys.ts';
import { LimitGate } from '../../../src/runs/limiter/gate.ts';
import type { WorkerWithFeatures } from '../../../src/lanefold/start-worker.ts';
import type { RunRef } from '../../../src/database/store/run/run.ts';
import { DeliveryNotices } from '../../../src/database/store/delivery-notices.ts';
import { silent } from '../processes/worker.ts';
import type { Actor } from '../world/network.ts';
import { counting, models } from './agents.ts';

const redactor = createKeyRedactor();

/** The library of a process with these agents, and what its worker depends on, as `createLanefold` puts them together. */
export function openProcess(
  { db }: Actor,
  queue: RunQueue,
  agents: AgentRegistry,
  onError: (error: unknown) => void,
): { library: Library; worker: WorkerWithFeatures } {
  const deliveryNotices = new DeliveryNotices(db);
  db.settings.deliveriesDue = () => deliveryNotices.due();
  const closers = new Closers();
  const gate = new LimitGate(db, queue, onError);
  const shared = {
    agents,
    counting: counting(),
    log: silent,
    models,
    privateQueue: false,
    privateWebhooks: true,
    redactor,
  };
  const settings = { ...shared, secrets: [], unattendedMs: 5_000 } as unknown as LanefoldSettings;
  const rights = { bypasses: true, owner: 'owner', ownerBypasses: true, isOwner: true };
  const queueOptions = { databaseUrl: '' };
  const connections = { db, databaseUrl: '', queue, queueOptions, rights } as unknown as Connections;
  const { library, runsFor, startChildFor, evalRequests } = assemble(settings, connections, closers, {
    directWorkers: [],
    gate,
  });
  const worker = {
    ...{ ...shared, promptCaching: false, scorers: [], db, connect: () => db, gate, evalRequests, deliveryNotices },
    scheduleRequests: {
      enqueue: (tenant: string, request: EnqueueOptions) => runsFor(tenant).enqueue(request),
      interrupt: (tenant: string, run: RunRef) => runsFor(tenant).cancel(run, 'schedule_interrupted'),
    },
    children: {
      start: startChildFor,
      cancel: (tenant: string, run: RunRef) => runsFor(tenant).cancel(run, 'parent_ended'),
    },
  };
  return { library, worker: worker as unknown as WorkerWithFeatures };
}
