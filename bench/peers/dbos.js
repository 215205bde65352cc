import { DBOS } from '@dbos-inc/dbos-sdk';
import { asked, check, converse, question } from './workload.js';

/**
 * A durable workflow. The caller awaits the workflow that runs in its own process, the way DBOS is used
 * without a queue.
 */
export async function open({ databaseUrl }) {
  const workflow = register();
  await launch(databaseUrl);
  return {
    async run() {
      const handle = await DBOS.startWorkflow(workflow)(question);
      check(await handle.getResult());
    },
    close: () => DBOS.shutdown(),
  };
}

export const register = () =>
  DBOS.registerWorkflow((input) => converse(asked(input), (name, action) => DBOS.runStep(action, { name })), {
    name: 'agent',
  });

export async function launch(systemDatabaseUrl) {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error', applicationVersion: 'bench' });
  await DBOS.launch();
}
