import type { DatabaseNode } from '../../src/database/postgres/node-guard.ts';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { findUnlinedRuns } from '../../src/database/store/limit/use-limits.ts';
import { guardNodes } from '../../src/database/store/nodes/guard-nodes.ts';
import { findAgentQueues } from '../../src/database/store/run/find-agent-queues.ts';
import { findExpiredRuns } from '../../src/database/store/run/find-expired-runs.ts';
import { findQueuedRuns } from '../../src/database/store/run/find-queued-runs.ts';
import { findStrandedRuns } from '../../src/database/store/run/find-stranded-runs.ts';
import { findOpenRunWaits, findUntold } from '../../src/database/store/wait/child-runs.ts';
import { findExpiredWaits } from '../../src/database/store/wait/expire-waits.ts';
import { findWaitTasks } from '../../src/database/store/wait/wait-tasks.ts';
import { openEndpoints, waitingEvents } from '../../src/features/webhooks/store/due-deliveries.ts';
import { processClock } from '../../src/base/common/timer.ts';

const gone: DatabaseNode = { name: 'gone:1', host: 'gone', port: 1, isDown: true };

/** Everything that workers search for: what all nodes find in one statement, and what each of them finds alone. */
export async function searchTwice(url: string, queuePrefix: string, agent: string) {
  const db = openDatabase({ url, settings: { distributed: true, clock: processClock } });
  const guard = await guardNodes(db, url, () => {});
  const known = { agents: [agent], strategies: ['react'], versions: [], tools: [] };
  const fleet = { queuePrefix, adoptMs: 0 };
  const limits = {
    graceMs: 0,
    cancelGraceMs: 0,
    adoptMs: 0,
    unknownAgentMs: 0,
    queuePrefix,
    adoptable: [agent],
    known,
  };
  const searches: Record<string, (db: Database) => Promise<unknown>> = {
    queues: (on) => findAgentQueues(on, known),
    expired: (on) => findExpiredRuns(on, 500),
    queued: (on) => findQueuedRuns(on, limits, 500),
    stranded: (on) => findStrandedRuns(on, limits, 500),
    unlined: (on) => findUnlinedRuns(on, queuePrefix),
    untold: (on) => findUntold(on, fleet, 0, 500),
    openWaits: (on) => findOpenRunWaits(on, fleet, undefined, 500),
    waits: (on) => findExpiredWaits(on, limits, 500),
    tasks: (on) => findWaitTasks(on, { agents: [agent], graceMs: 0, fleet }, undefined, 500),
    deliveries: (on) => openEndpoints(on, { each: 5, failing: 1 }, undefined),
    events: (on) => waitingEvents(on, 50),
  };
  const search = async () => {
    const found = await Promise.all(Object.entries(searches).map(async ([name, ask]) => [name, sorted(await ask(db))]));
    return Object.fromEntries(found) as Record<string, unknown>;
  };
  try {
    const together = await search();
    const { nodes } = guard;
    const alone = {
      send: guard.send.bind(guard),
      carriesOut: guard.carriesOut.bind(guard),
      nodeFor: guard.nodeFor.bind(guard),
      nodeOf: guard.nodeOf.bind(guard),
      close: () => {},
    };
    db.settings.nodes = { ...alone, nodes: [...nodes, gone] };
    return { together, each: await search() };
  } finally {
    guard.close();
    await db.close();
  }
}

const sorted = (found: unknown): unknown =>
  Array.isArray(found) ? found.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : found;
