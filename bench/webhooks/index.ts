import { fileURLToPath } from 'node:url';
import { migrate } from 'lanefold';
import pg from 'pg';
import type { ReceiverFigures } from '../processes/receiver.ts';
import type { Servers } from '../setup.ts';
import { backends, type Backend } from '../support/backends.ts';
import { startProcess } from '../support/process.ts';
import { printRelativeSpeed } from '../support/relative-speed.ts';
import { sideBySide, type Contestant } from '../support/side-by-side.ts';
import { printDelivered } from './print-delivered.ts';

const rounds = 5;
const concurrencies = [10, 50] as const;

/** How many webhooks each run has; those that are paused get their events later, so only storing them costs anything. */
const endpoints: { name: string; webhooks: number; paused?: boolean }[] = [
  { name: 'without webhooks', webhooks: 0 },
  { name: 'one webhook', webhooks: 1 },
  { name: 'ten webhooks', webhooks: 10 },
  { name: 'ten, delivered later', webhooks: 10, paused: true },
];

/**
 * Measures whole runs whose ends are told to webhooks. The receiver answers at once, in a process of its own, but on the
 * same cores: the last contestant shows what is left without the requests.
 */
export async function webhooks(servers: Servers): Promise<void> {
  process.env['LANEFOLD_PRIVATE_WEBHOOKS'] = 'on';
  for (const backend of backends(servers)) {
    const receiver = await startProcess('receiver', {});
    const url = await receiver.ask<string>('url');
    await measure(servers, backend, url);
    const { requests, connections, cpuMs } = await receiver.ask<ReceiverFigures>('figures');
    console.log(
      `receiver: ${requests} requests in ${connections} connections, ${(cpuMs / requests).toFixed(3)} ms of CPU for each`,
    );
    await receiver.stop();
  }
  delete process.env['LANEFOLD_PRIVATE_WEBHOOKS'];
}

async function measure(servers: Servers, { name: queue, redisUrl }: Backend, url: string): Promise<void> {
  const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));
  const databases = new Map<string, string>();
  const contestants = endpoints.map(({ name, webhooks, paused = false }): Contestant => ({
    name,
    file,
    usesRedis: redisUrl !== null,
    prepare: async (databaseUrl) => {
      databases.set(name, databaseUrl);
      await migrate(databaseUrl);
      await setWebhooks(databaseUrl, webhooks, url, paused);
    },
  }));
  const plan = { rounds, seconds: 3, warmUpSeconds: 3, concurrencies };
  const figuresOf = await sideBySide(servers, contestants, plan);
  console.log(
    `\nRuns with the queue in ${queue}; speed relative to no webhooks, median of ${rounds} rounds compared one by one (goal 80 %)`,
  );
  printRelativeSpeed(figuresOf, contestants, concurrencies);
  await printDelivered(databases);
}

async function setWebhooks(databaseUrl: string, count: number, url: string, paused: boolean): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const definition = { types: [], agents: [], ordered: false, include_result: false, by: 'bench' };
  for (let no = 0; no < count; no++) {
    const name = `hook-${no}`;
    const given = { ...definition, url: `${url}/${name}` };
    await client.query("select lanefold.set_webhook('default', $1, $1, $2)", [name, given]);
    if (paused) await client.query("select lanefold.pause_webhook('default', $1, true, 'bench')", [name]);
  }
  await client.end();
}
