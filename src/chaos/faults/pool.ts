import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { WorkerFault } from './rig.ts';

/** Idle clients take every connection there is, also those that a worker has just lost and asks for again. */
export const pool: WorkerFault = async ({ postgres, watch, leaseMs }, slot, { holdLeases }) => {
  const idle: pg.Client[] = [];
  let filling = true;
  const fill = async () => {
    while (filling) {
      const connectionString = postgres.url();
      const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, application_name: 'idle' });
      client.on('error', () => {});
      const taken = await client.connect().then(
        () => true,
        () => false,
      );
      if (taken) idle.push(client);
      else await delay(20);
    }
  };
  const fillers = [fill(), fill(), fill()];
  // full, or nearly so, before the worker has to come back
  for (let before = -1; before !== idle.length; await delay(100)) before = idle.length;
  for (const proxy of slot.proxies) proxy.reset();
  const hit = await watch.held(slot.workerId!);
  const over = delay(holdLeases * leaseMs).then(async () => {
    filling = false;
    await Promise.all(fillers);
    await Promise.all(idle.map((client) => client.end().catch(() => {})));
  });
  return { hit, over };
};
