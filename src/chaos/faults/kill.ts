import type { WorkerFault } from './rig.ts';

/** SIGKILL. The runs it hit are those the dead worker still holds. */
export const kill: WorkerFault = async ({ fleet, watch }, slot) => {
  const workerId = slot.workerId!;
  await fleet.kill(slot);
  return { hit: await watch.held(workerId), over: Promise.resolve() };
};
