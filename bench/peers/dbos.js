import { DBOS } from '@dbos-inc/dbos-sdk';
import { answer, ask, look, question } from './workload.js';

/**
 * A durable workflow of three steps. The caller awaits the workflow that runs in its own process, the way DBOS is used
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
  DBOS.registerWorkflow(
    async (input) => {
      const messages = [{ role: 'user', content: input }];
      const turn = await DBOS.runStep(() => ask(messages), { name: 'model' });
      messages.push(turn);
      const [call] = turn.toolCalls;
      const result = await DBOS.runStep(() => look(call.args), { name: 'look' });
      messages.push({ role: 'tool', toolCallId: call.id, content: result });
      const final = await DBOS.runStep(() => ask(messages), { name: 'model' });
      return final.content;
    },
    { name: 'agent' },
  );

export async function launch(systemDatabaseUrl) {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error', applicationVersion: 'bench' });
  await DBOS.launch();
}

export function check(result) {
  if (result !== answer) throw new Error(`the workflow returned ${JSON.stringify(result)}`);
}
