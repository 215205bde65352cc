import pg from 'pg';
import type { WorkerFault } from './fault.ts';
import { delay } from '../../../base/common/timer.ts';

/** Idle clients take every free connection, including those that the worker has just lost. */
export const pool: WorkerFault = async ({ postgres, observer, leaseMs }, slot, { holdLeases }) => {
  const idle: pg.Client[] = [];
  let filling = true;
  const fill = async () => {
    while (filling) {
      const connectionString = postgres.url();
      const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, application_name: 'idle' });
      client.on('error', () => {});
      const connected = await client.connect().then(
        () => true,
        () => false,
      );
      if (connected) idle.push(client);
      else await delay(20);
    }
  };
  const fillers = [fill(), fill(), fill()];
  // wait until the connection limit is (nearly) reached, before the worker must reconnect
  for (let before = -1; before !== idle.length; await delay(100)) before = idle.length;
  for (const proxy of slot.proxies) proxy.reset();
  const hit = await observer.runsHeldBy(slot.workerId!);
  const over = delay(holdLeases * leaseMs).then(async () => {
    filling = false;
    await Promise.all(fillers);
    await Promise.all(idle.map((client) => client.end().catch(() => {})));
  });
  return { hit, over };
};
