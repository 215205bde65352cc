import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withClient } from '../../../src/ops/chaos/services/postgres.ts';
import { postgresUser } from '../../../src/database/postgres/embedded/system-user.ts';
import { QuietClient } from '../../../src/database/postgres/watched-client.ts';
import { until } from '../until.ts';
import { password, type ClusterSettings } from './config.ts';
import { prepareMember, type Member, type Role } from './member.ts';
import type { Programs } from './programs.ts';
import { logOf, startEtcd, startHaproxy, type Place } from './services.ts';

/** Two PostgreSQL servers that Patroni runs, with etcd to agree in and HAProxy in front. */
export interface PatroniCluster {
  members: readonly Member[];
  /** URL of a database through HAProxy: on the primary. */
  url(database: string): string;
  /** The same, but on a replica. */
  readUrl(database: string): string;
  /** The member that is the primary, once HAProxy leads there. */
  leader(): Promise<Member>;
  /** Starts the members that were killed, changes the settings, and waits until both members follow them. */
  whole(settings?: ClusterSettings): Promise<{ primary: Member; standby: Member }>;
  /** Waits until the standby has everything that is committed now. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPatroniCluster(programs: Programs, settings: ClusterSettings): Promise<PatroniCluster> {
  const base = await mkdtemp(path.join(tmpdir(), 'lanefold-patroni-'));
  await chmod(base, 0o711);
  const place: Place = { base, programs, user: await postgresUser(base) };
  const stops: (() => Promise<unknown>)[] = [() => rm(base, { recursive: true, force: true })];
  const stop = async () => {
    for (const end of stops.toReversed()) await end();
  };
  try {
    const etcd = await startEtcd(place);
    stops.push(etcd.kill);
    const members: Member[] = [];
    for (const name of ['a', 'b']) {
      const member = await prepareMember(place, name, etcd.port, settings);
      stops.push(member.replication.close, member.kill);
      members.push(member);
    }
    const ports = members.map((member) => member.ports);
    const haproxy = await startHaproxy(place, ports);
    stops.push(haproxy.kill);
    const cluster = follow(place, members, haproxy, settings);
    for (const member of members) await member.start();
    await cluster.leader();
    return { ...cluster, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function follow(
  place: Place,
  members: readonly Member[],
  haproxy: { primary: number; replicas: number },
  { synchronous_mode: synchronous = false }: ClusterSettings,
): Omit<PatroniCluster, 'stop'> {
  const urlAt = (port: number) => (database: string) =>
    `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`;
  const url = urlAt(haproxy.primary);
  /** Whether a condition holds on the server that HAProxy leads to; false if none answers. */
  const holds = async (condition: string) => {
    const limits = { connectionTimeoutMillis: 2_000, query_timeout: 2_000 };
    const client = new QuietClient({ connectionString: url('postgres'), ...limits });
    try {
      await client.connect();
      return (await client.query<{ holds: boolean }>(`select ${condition} as holds`)).rows[0]!.holds;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  };
  const waitFor = async <T>(what: string, poll: () => Promise<T>) => {
    try {
      return await until(what, poll);
    } catch (error) {
      const logs = await Promise.all(['etcd', 'haproxy', 'a', 'b'].map((name) => lastLines(logOf(place, name))));
      throw new Error([String(error), ...logs].join('\n'), { cause: error });
    }
  };
  const withRole = async (role: Role) => {
    for (const member of members) if (await member.is(role)) return member;
    return undefined;
  };
  const leader = () =>
    waitFor('HAProxy leads to the primary', async () =>
      (await holds('not pg_is_in_recovery()')) ? withRole('primary') : undefined,
    );

  const endOf = (written: string) =>
    withClient(url('postgres'), async (client) => {
      const { rows } = await client.query<{ lsn: string }>(`select (${written})::text as lsn`);
      return rows[0]!.lsn;
    });

  return {
    members,
    url,
    readUrl: urlAt(haproxy.replicas),
    leader,
    async whole(settings) {
      for (const member of members) await member.start();
      if (settings) await (await leader()).configure(settings);
      synchronous = settings?.synchronous_mode ?? synchronous;
      const primary = await leader();
      const standby = await waitFor('the standby is healthy', () => withRole(synchronous ? 'sync' : 'replica'));
      // Patroni calls a standby healthy before it has found the end of a log that its primary does not have, and it streams
      // what is before that end
      const end = await endOf("pg_logical_emit_message(false, 'whole', '')");
      await waitFor('the standby follows, and commits wait for it or for none', () =>
        holds(`exists (select from pg_stat_replication where state = 'streaming' and replay_lsn >= '${end}'
          and (sync_state = 'sync') = ${synchronous})`),
      );
      return { primary, standby };
    },
    async caughtUp() {
      const end = await endOf('pg_current_wal_lsn()');
      const has = `exists (select from pg_stat_replication where flush_lsn >= '${end}')`;
      await waitFor('the standby has it', () => holds(has));
    },
  };
}

const lastLines = async (file: string): Promise<string> =>
  `${path.basename(file)}:\n${(await readFile(file, 'utf8').catch(() => '')).split('\n').slice(-25).join('\n')}`;
