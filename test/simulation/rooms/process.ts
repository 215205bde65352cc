import type { AgentRegistry } from '../../../src/agents/registry.ts';
import { assemble } from '../../../src/lanefold/assemble.ts';
import { Closers } from '../../../src/lanefold/closers.ts';
import type { Connections } from '../../../src/lanefold/connect.ts';
import type { LanefoldSettings } from '../../../src/lanefold/settings.ts';
import type { EnqueueOptions } from '../../../src/library/runs/enqueue.ts';
import type { Library } from '../../../src/library/library.ts';
import type { RunQueue } from '../../../src/queue/queue.ts';
import { createKeyRedactor } from '../../../src/redaction/sensitive-keys.ts';
import { LimitGate } from '../../../src/runtime/limits/gate.ts';
import type { WorkerDependencies } from '../../../src/runtime/worker/worker.ts';
import type { RunRef } from '../../../src/store/run/run.ts';
import { DeliveryNotices } from '../../../src/store/webhook/delivery-notices.ts';
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
): { library: Library; worker: WorkerDependencies } {
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
    requests: {
      enqueue: (tenant: string, request: EnqueueOptions) => runsFor(tenant).enqueue(request),
      interrupt: (tenant: string, run: RunRef) => runsFor(tenant).cancel(run, 'schedule_interrupted'),
    },
    children: {
      start: startChildFor,
      cancel: (tenant: string, run: RunRef) => runsFor(tenant).cancel(run, 'parent_ended'),
    },
  };
  return { library, worker: worker as unknown as WorkerDependencies };
}
