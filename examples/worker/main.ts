import { createLanefold } from 'lanefold';
import { stopSignal } from '../stop.ts';
import agents from './agents.ts';

// In production, run `lanefold migrate` as a deployment step; workers then only check the schema.
const lanefold = await createLanefold({ agents, migrate: true });
const worker = await lanefold.startWorker({
  concurrency: 20,
  onRunEnd: (run) => console.log(`${run.status} ${run.agent} ${run.threadId} ${run.durationMs} ms`),
  onError: (error) => console.error(error),
});
console.log(`worker ${worker.id} ready, queue in ${lanefold.queueBackend}`);

console.log(`${await stopSignal()}: waiting for ${worker.active} runs to end`);
await lanefold.close();
console.log('stopped');
