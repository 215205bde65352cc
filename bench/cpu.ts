import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { Servers } from './setup.ts';
import { agent, models, text400 } from './workload.ts';

const steps = 100;
const repeats = 20;
/** Until V8 has optimized the code, a step costs a fifth more. */
const warmUps = 20;

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Measures the CPU time of this process per model step: runs of 100 model calls, minus as many bare commits of the same
 * size.
 */
export async function cpuPerStep(servers: Servers): Promise<void> {
  const url = await servers.database();
  const lanefold = await createLanefold({ databaseUrl: url, redisUrl: null, agents: [agent], models });
  await lanefold.startWorker({ concurrency: 1 });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await pool.query(`create table bare (id bigserial primary key, payload jsonb not null);
    create function bare_append(p jsonb) returns bigint language sql as 'insert into bare (payload) values (p) returning id'`);
  const run = async () => {
    const ended = await lanefold.runs.wait(
      await lanefold.runs.enqueue({ agent: 'bench', model: `bench:${steps - 1}`, input: text400 }),
    );
    if (ended.iteration !== steps) throw new Error(`the run made ${ended.iteration} model calls instead of ${steps}`);
  };
  // a model call with its tool round takes two commits, the last call one
  const bare = async () => {
    for (let i = 0; i < steps * 2 - 1; i++) {
      await pool.query({
        name: 'bare',
        text: 'select bare_append($1)',
        values: [{ role: 'assistant', content: text400 }],
      });
    }
  };
  for (let i = 0; i < warmUps; i++) {
    await run();
    await bare();
  }
  let [total, floor] = [0, 0];
  for (let i = 0; i < repeats; i++) {
    let from = cpuMs();
    await run();
    total += cpuMs() - from;
    from = cpuMs();
    await bare();
    floor += cpuMs() - from;
  }
  const perStep = (ms: number) => (ms / repeats / steps).toFixed(3);
  console.log(
    `\nCPU per model step (${steps}-step runs): ${perStep(total - floor)} ms (${perStep(total)} in total minus ${perStep(floor)} for bare commits; goal 0.3)`,
  );
  await pool.end();
  await lanefold.close();
}
