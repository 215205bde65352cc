import type { Processor, RunQueue, WorkOptions } from '../../../src/runs/queue/queue.ts';
import { agentQueueName } from '../world/jobs.ts';
import type { Actor } from '../world/network.ts';
import { SimulatedBullWorker } from './bull-worker.ts';

/** The queue as a process of the product uses it. */
export function queueOf(actor: Actor): RunQueue {
  const { jobs } = actor.world;
  const queue = jobs.asRunQueue();
  return {
    ...queue,
    async work(processor: Processor, { concurrency }: WorkOptions, agentQueue?: string) {
      const worker = new SimulatedBullWorker(actor, processor, concurrency, agentQueueName(agentQueue));
      jobs.takers.add(worker);
      jobs.offer();
      return [worker.asBullWorker()];
    },
  };
}
