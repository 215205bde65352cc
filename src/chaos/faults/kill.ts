import type { WorkerFault } from './fault.ts';

/** SIGKILL. Hits the runs that the dead worker still holds. */
export const kill: WorkerFault = async ({ fleet, observer }, slot) => {
  const workerId = slot.workerId!;
  await fleet.kill(slot);
  return { hit: await observer.runsHeldBy(workerId), over: Promise.resolve() };
};
