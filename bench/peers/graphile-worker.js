import { Logger, run } from 'graphile-worker';
import { asked, check, converse, question } from './workload.js';

/** The whole run as one job without steps, answered once the end of the job is stored. LISTEN announces jobs. */
export async function open({ databaseUrl, concurrency }) {
  const waiting = new Map();
  const runner = await run({
    connectionString: databaseUrl,
    concurrency,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    parsedCronItems: [],
    taskList: {
      agent: async ({ id, input }) => {
        waiting.get(id).answer = await converse(asked(input));
      },
    },
  });
  runner.events.on('job:complete', ({ job }) => waiting.get(job.payload.id).resolve());
  let requested = 0;
  return {
    async run() {
      const id = requested++;
      const request = {};
      const ended = new Promise((resolve) => (request.resolve = resolve));
      waiting.set(id, request);
      await runner.addJob('agent', { id, input: question });
      await ended;
      waiting.delete(id);
      check(request.answer);
    },
    close: () => runner.stop(),
  };
}
