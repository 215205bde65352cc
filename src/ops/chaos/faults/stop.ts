import type { WorkerFault } from './fault.ts';
import { delay } from '../../../base/common/timer.ts';

/** SIGSTOP, then SIGCONT when its leases have usually expired: the worker continues as a zombie where it was frozen. */
export const stop: WorkerFault = async ({ observer, leaseMs }, slot, { holdLeases }) => {
  const { process: frozen, workerId } = slot;
  frozen.kill('SIGSTOP');
  const hit = await observer.runsHeldBy(workerId!);
  const over = delay(holdLeases * leaseMs).then(() => void frozen.kill('SIGCONT'));
  return { hit, over };
};

/** SIGKILL. Hits the runs that the dead worker still holds. */
export const kill: WorkerFault = async ({ fleet, observer }, slot) => {
  const workerId = slot.workerId!;
  await fleet.kill(slot);
  return { hit: await observer.runsHeldBy(workerId), over: Promise.resolve() };
};

/**
 * The connections of a worker go silent and are reset later. With `responsesOnly`, its statements still take effect.
 */
export const cut: WorkerFault = async ({ observer, leaseMs }, slot, { holdLeases, responsesOnly }) => {
  for (const proxy of slot.proxies) proxy.silence(responsesOnly);
  const hit = await observer.runsHeldBy(slot.workerId!);
  const over = delay(holdLeases * leaseMs).then(() => {
    for (const proxy of slot.proxies) proxy.reset();
  });
  return { hit, over };
};
