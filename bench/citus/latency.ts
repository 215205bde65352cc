import { loadavg } from 'node:os';
import pg from 'pg';
import { median } from '../support/median.ts';
import { startNodes } from './nodes.ts';

const calls = 400;

/** The latency a coordinator adds: the median of one call there, on the node of the thread, and on plain PostgreSQL. */
export async function latency(): Promise<void> {
  console.log('\nMilliseconds per call, median of %d alternating calls', calls);
  const [plain, one] = [await startNodes(0), await startNodes(1)];
  const clients = new Map<string, pg.Client>();
  for (const [name, url] of Object.entries({ plain: plain.url, coordinator: one.url, node: one.workers[0]! })) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    clients.set(name, client);
  }
  for (const name of ['plain', 'coordinator'])
    await clients.get(name)!.query("select lanefold.create_thread('t', '{}')");
  const statements = {
    'append_entries (a commit)': `select lanefold.append_entries($1, '[{"kind": "note", "payload": {}}]', '{}')`,
    'renew_lease (no commit)': "select * from lanefold.renew_lease($1, 'none', 1, 1000)",
  };
  for (const [call, text] of Object.entries(statements)) {
    const times = new Map<string, number[]>([...clients.keys()].map((name) => [name, []]));
    for (let n = 0; n < calls; n++) {
      for (const [name, client] of clients) {
        const startedAt = performance.now();
        await client.query({ name: call, text, values: ['t'] });
        times.get(name)!.push(performance.now() - startedAt);
      }
    }
    const medians = [...times].map(([name, all]) => `${name} ${median(all).toFixed(2)}`);
    console.log(`${call.padEnd(26)} ${medians.join('   ')}   load ${loadavg()[0]!.toFixed(1)}`);
  }
  for (const client of clients.values()) await client.end();
  for (const nodes of [plain, one]) await nodes.stop();
}
