import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { isAlive } from '../../src/database/postgres/embedded/process-identity.ts';
import { postgresEnv, run } from '../../src/database/postgres/embedded/run.ts';
import { postgresUser, spawnAs } from '../../src/database/postgres/embedded/system-user.ts';
import { until } from './until.ts';

/**
 * Stops the postmaster of a node, so that it starts no others, and returns the folder of its data and what sends a signal to
 * every process of the node.
 */
async function stopPostmaster(url: string) {
  const { rows } = await on(url, (client) =>
    client.query<{ data: string }>("select current_setting('data_directory') as data"),
  );
  const { data } = rows[0]!;
  const postmaster = parseInt(await readFile(`${data}/postmaster.pid`, 'utf8'), 10);
  process.kill(postmaster, 'SIGSTOP');
  const { output } = await run('ps', ['-o', 'pid=', '--ppid', String(postmaster)]);
  const pids = [postmaster, ...output.trim().split(/\s+/).map(Number)];
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, name);
  };
  return { data, postmaster, pids, signal };
}

/**
 * Stops every process of a node, as if its host were frozen: connections stay open, new ones are accepted by the kernel,
 * and nothing is answered. Returns what lets it continue.
 */
export async function freezeNode(url: string): Promise<() => void> {
  const { signal } = await stopPostmaster(url);
  signal('SIGSTOP');
  return () => signal('SIGCONT');
}

/** Kills a node, the postmaster and every process of it, and returns what starts it again on what is on its disk. */
export async function killNode(url: string): Promise<() => Promise<void>> {
  const { data, postmaster, pids, signal } = await stopPostmaster(url);
  const program = await readlink(`/proc/${postmaster}/exe`);
  // one that was left would keep the shared memory, and no other postmaster starts on that data meanwhile
  signal('SIGKILL');
  await until('every process of the node is gone', () => !pids.some(isAlive));
  return async () => {
    const log = openSync(path.join(data, '../log'), 'a');
    const user = spawnAs(await postgresUser(data));
    spawn(program, ['-D', data], {
      ...user,
      cwd: data,
      env: postgresEnv(),
      stdio: ['ignore', log, log],
      detached: true,
    }).unref();
    await until('the node answers', () => answers(url));
  };
}

const answers = (url: string): Promise<boolean> => on(url, () => Promise.resolve(true)).catch(() => false);

/** The port of the node that has each of the threads. */
export async function portsOf(coordinator: pg.Client, threadIds: readonly string[]): Promise<number[]> {
  const { rows } = await coordinator.query<{ port: number }>(
    `select n.nodeport as port from unnest($1::text[]) with ordinality i (id, no),
       lateral (select get_shard_id_for_distribution_column('lanefold.thread', i.id) as shard) s
     join pg_dist_placement p on p.shardid = s.shard join pg_dist_node n on n.groupid = p.groupid order by i.no`,
    [threadIds],
  );
  return rows.map(({ port }) => port);
}

/** The threads that a node has, and those that others have: some of each. */
export async function divide(databaseUrl: string, node: string, threadIds: readonly string[]) {
  const ports = await on(databaseUrl, (coordinator) => portsOf(coordinator, threadIds));
  const isGone = (_: string, n: number) => ports[n] === Number(new URL(node).port);
  const [gone, there] = [threadIds.filter(isGone), threadIds.filter((id, n) => !isGone(id, n))];
  if (gone.length < 2 || there.length < 2) throw new Error('one of the nodes has hardly any of these threads');
  return { gone, there };
}

/** Executes something with a connection of its own. */
export async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
