import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { Servers } from '../setup.ts';
import { openLoad } from './load.ts';
import { startNodes } from './nodes.ts';

/** Creates runs for this long, so that the shards that move with the thread hold data. */
const seconds = 10;

/** How long writes to a thread wait while the shards that have it move to another node. */
export async function moving(servers: Servers): Promise<void> {
  console.log('\nLongest time between two writes to one thread, in milliseconds');
  const nodes = await startNodes(2);
  const load = await openLoad(servers, nodes.url, 10);
  await load.measure(seconds, 10);
  await load.close();
  const lanefold = await createLanefold({ databaseUrl: nodes.url, redisUrl: servers.redisUrl! });
  const { id } = await lanefold.threads.create();
  const coordinator = new pg.Client({ connectionString: nodes.url });
  await coordinator.connect();
  const ports = nodes.workers.map((url) => Number(new URL(url).port));
  const { rows } = await coordinator.query<{ shard: string; port: number }>(
    `select s.shard, n.nodeport as port from (select get_shard_id_for_distribution_column('lanefold.thread', $1::text) as shard) s
     join pg_dist_placement p on p.shardid = s.shard join pg_dist_node n on n.groupid = p.groupid`,
    [id],
  );
  const { shard, port } = rows[0]!;
  const other = ports.find((each) => each !== port)!;
  const atRest = await longestGap(lanefold, id, () => new Promise((resolve) => setTimeout(resolve, 5_000)));
  console.log(`at rest                    ${atRest}`);
  const startedAt = performance.now();
  const gap = await longestGap(lanefold, id, () =>
    coordinator.query(
      `select citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, shard_transfer_mode => 'block_writes')`,
      [shard, port, other],
    ),
  );
  console.log(`while its shards move      ${gap}   the move took ${(performance.now() - startedAt).toFixed(0)} ms`);
  await coordinator.end();
  await lanefold.close();
  await nodes.stop();
}

/** Appends to a thread, one message after the other, during the given work. Retries failed appends. */
async function longestGap(
  lanefold: Awaited<ReturnType<typeof createLanefold>>,
  threadId: string,
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  let over = false;
  const done = meanwhile().finally(() => (over = true));
  let last = performance.now();
  let longest = 0;
  const failures: string[] = [];
  // one more append after the move, because the delayed one may have failed
  for (let ended = false; !ended;) {
    ended = over;
    try {
      await lanefold.threads.append(threadId, [{ message: { role: 'user', content: 'on we go' } }]);
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    } catch (error) {
      ended = false;
      failures.push((error as Error).message);
    }
  }
  await done;
  return `${longest.toFixed(0)}   writes failed: ${failures.length} ${[...new Set(failures)].join(' | ')}`;
}
