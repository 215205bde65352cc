import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { asked, check, converse, question } from './workload.js';

/** The whole run as one job without steps. LISTEN announces jobs; the worker takes as many as there are at once. */
export async function open({ databaseUrl, concurrency }) {
  const boss = new PgBoss({ connectionString: databaseUrl, useListenNotify: true });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue('agent', { notify: true });
  // a client could only poll for the end of a job, so the worker answers it directly, just before that is stored
  const waiting = new Map();
  await boss.work('agent', { batchSize: concurrency }, (jobs) =>
    Promise.all(jobs.map(async ({ id, data }) => waiting.get(id)(await converse(asked(data.input))))),
  );
  return {
    async run() {
      const id = randomUUID();
      const answered = new Promise((resolve) => waiting.set(id, resolve));
      await boss.send('agent', { input: question }, { id });
      check(await answered);
      waiting.delete(id);
    },
    close: () => boss.stop(),
  };
}
