import { DBOS } from '@dbos-inc/dbos-sdk';
import { launch, register } from './dbos.js';
import { check, question } from './workload.js';

/** Both default to 1,000; then every figure would be that pause. */
const pollingIntervalMs = 20;

/** The same workflow through a queue, so that any process of a fleet may execute it. */
export async function open({ databaseUrl, concurrency }) {
  const workflow = register();
  await launch(databaseUrl);
  await DBOS.registerQueue('runs', { workerConcurrency: concurrency, minPollingIntervalMs: pollingIntervalMs });
  return {
    async run() {
      const handle = await DBOS.startWorkflow(workflow, { queueName: 'runs' })(question);
      check(await handle.getResult({ pollingIntervalMs }));
    },
    close: () => DBOS.shutdown(),
  };
}
