import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerFault } from './fault.ts';

/** The connections of a worker go silent and are reset later. With `responsesOnly`, its statements still take effect. */
export const cut: WorkerFault = async ({ observer, leaseMs }, slot, { holdLeases, responsesOnly }) => {
  for (const proxy of slot.proxies) proxy.silence(responsesOnly);
  const hit = await observer.runsHeldBy(slot.workerId!);
  const over = delay(holdLeases * leaseMs).then(() => {
    for (const proxy of slot.proxies) proxy.reset();
  });
  return { hit, over };
};
