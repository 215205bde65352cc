import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerFault } from './rig.ts';

/** SIGSTOP, and SIGCONT when its leases are (mostly) past: then it goes on in the middle of what it did, as a zombie. */
export const stop: WorkerFault = async ({ watch, leaseMs }, slot, { holdLeases }) => {
  const { process: frozen, workerId } = slot;
  frozen.kill('SIGSTOP');
  const hit = await watch.held(workerId!);
  const over = delay(holdLeases * leaseMs).then(() => void frozen.kill('SIGCONT'));
  return { hit, over };
};
