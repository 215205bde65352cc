import { createLanefold, defineAgent } from 'lanefold';
import type { AtRest, Started } from './processes/start.ts';
import type { Servers } from './setup.ts';
import { backends, type Backend } from './support/backends.ts';
import { median } from './support/median.ts';
import { startProcess } from './support/process.ts';

const rounds = 9;
/** Long enough for several sweeps. */
const restMs = 10_000;

/** Measures processes that start for one run and end, as schedulers start them, and processes that have nothing to do. */
export async function start(servers: Servers): Promise<void> {
  console.log(`\nA process for one run, median of ${rounds} starts in ms, and its memory in MiB`);
  console.log('| queue in | connected | first claim | work returned | CPU | resident |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const backend of backends(servers)) await printStarts(servers, backend);
  console.log(`\nA process at rest for ${restMs / 1_000} s`);
  console.log('| queue in | has | resident, MiB | CPU, ms/s |');
  console.log('| --- | --- | ---: | ---: |');
  for (const backend of backends(servers))
    for (const worker of [false, true]) {
      const databaseUrl = await servers.database();
      const process = await startProcess('start', { databaseUrl, redisUrl: backend.redisUrl });
      const { residentMiB, cpuMsPerSecond } = await process.ask<AtRest>('rest', { worker, ms: restMs });
      await process.stop();
      const has = worker ? 'a worker' : 'the library';
      console.log(`| ${backend.name} | ${has} | ${residentMiB.toFixed(0)} | ${cpuMsPerSecond.toFixed(1)} |`);
    }
}

async function printStarts(servers: Servers, { name, redisUrl }: Backend): Promise<void> {
  const databaseUrl = await servers.database();
  const agents = [defineAgent({ name: 'echo', model: 'scripted:echo' })];
  const lanefold = await createLanefold({ databaseUrl, redisUrl, agents, queuePrefix: 'start' });
  const starts: Started[] = [];
  for (let round = 0; round < rounds; round++) {
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'go' });
    const process = await startProcess('start', { databaseUrl, redisUrl });
    starts.push(await process.ask<Started>('work', { run }));
    await process.stop();
  }
  await lanefold.close();
  const of = (field: keyof Started) => median(starts.map((one) => one[field])).toFixed(0);
  console.log(
    `| ${name} | ${of('connectedMs')} | ${of('claimedMs')} | ${of('endedMs')} | ${of('cpuMs')} | ${of('residentMiB')} |`,
  );
}
