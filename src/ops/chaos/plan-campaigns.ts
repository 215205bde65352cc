import type { Backend } from '../../runs/queue/queue.ts';

export interface PlannedCampaign {
  queue: Backend;
  seed: number;
  scenarios: number;
}

/** Divides scenarios into campaigns: for each seed, one on each queue. */
export function planCampaigns(wanted: {
  queues: readonly Backend[];
  seed: number;
  campaigns: number;
  scenarios: number;
}): PlannedCampaign[] {
  const { queues, seed, campaigns, scenarios } = wanted;
  const count = queues.length * campaigns;
  return Array.from({ length: count }, (_, i) => ({
    queue: queues[i % queues.length]!,
    seed: seed + Math.floor(i / queues.length),
    scenarios: Math.max(1, Math.ceil((scenarios - i) / count)),
  }));
}
