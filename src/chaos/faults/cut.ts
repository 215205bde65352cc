import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerFault } from './rig.ts';

/** The connections of a worker fall silent, half-open, and break later. With `answersOnly` what it sent was carried out. */
export const cut: WorkerFault = async ({ watch, leaseMs }, slot, { holdLeases, answersOnly }) => {
  for (const proxy of slot.proxies) proxy.silence(answersOnly);
  const hit = await watch.held(slot.workerId!);
  const over = delay(holdLeases * leaseMs).then(() => {
    for (const proxy of slot.proxies) proxy.reset();
  });
  return { hit, over };
};
