import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerFault } from './fault.ts';

/** SIGSTOP, then SIGCONT when its leases have usually expired: the worker continues as a zombie where it was frozen. */
export const stop: WorkerFault = async ({ observer, leaseMs }, slot, { holdLeases }) => {
  const { process: frozen, workerId } = slot;
  frozen.kill('SIGSTOP');
  const hit = await observer.runsHeldBy(workerId!);
  const over = delay(holdLeases * leaseMs).then(() => void frozen.kill('SIGCONT'));
  return { hit, over };
};
