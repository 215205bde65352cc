import { Absurd } from 'absurd-sdk';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { asked, check, converse, question } from './workload.js';

/** By default, a worker polls every 250 ms and a client after 50 ms and longer; then every figure would be that pause. */
const pollingIntervalMs = 20;

/** A task of durable steps in Absurd's queue. */
export async function open({ databaseUrl, concurrency }) {
  await createSchema(databaseUrl);
  const absurd = new Absurd({ db: databaseUrl, queueName: 'runs' });
  await absurd.createQueue();
  absurd.registerTask({ name: 'agent' }, (input, ctx) =>
    converse(asked(input), (name, action) => ctx.step(name, action)),
  );
  await absurd.startWorker({ concurrency, pollInterval: pollingIntervalMs / 1_000 });
  return {
    async run() {
      const { taskID } = await absurd.spawn('agent', question);
      let task = await absurd.fetchTaskResult(taskID);
      while (task.state !== 'completed' && task.state !== 'failed') {
        await delay(pollingIntervalMs);
        task = await absurd.fetchTaskResult(taskID);
      }
      check(task.result);
    },
    close: () => absurd.close(),
  };
}

/** The package from npm has only the client. */
async function createSchema(databaseUrl) {
  const file = process.env.ABSURD_SQL;
  if (!file) throw new Error('ABSURD_SQL must name a copy of sql/absurd.sql of github.com/earendil-works/absurd');
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query("select to_regnamespace('absurd') is null as missing");
  if (rows[0].missing) await client.query(await readFile(file, 'utf8'));
  await client.end();
}
