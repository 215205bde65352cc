import type pg from 'pg';

/** The settings of a server that the speed of runs depends on, by their names. */
export interface ServerSettings {
  version: string;
  fsync: string;
  synchronous_commit: string;
  shared_buffers: string;
  max_wal_size: string;
  max_connections: number;
  /** Connections that others have open. */
  open_connections: number;
  /** The process of this session. */
  backend: number;
}

/** @param client connected to the database whose settings count */
export async function readSettings(client: pg.Client): Promise<ServerSettings> {
  const { rows } = await client.query<ServerSettings>(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as synchronous_commit, current_setting('shared_buffers') as shared_buffers,
       current_setting('max_wal_size') as max_wal_size, current_setting('max_connections')::int as max_connections,
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend'
          and application_name <> 'lanefold bench') as open_connections, pg_backend_pid() as backend`,
  );
  return rows[0]!;
}

/** What a database has done and holds so far. */
export interface Counters {
  /** Transactions, including those that only read. */
  commits: number;
  /** The same, of all other databases of the server. */
  otherCommits: number;
  bytes: number;
}

/** Sessions report what they did when they end, so the counters of an open session lag behind. */
export async function readCounters(client: pg.Client, database: string): Promise<Counters> {
  const { rows } = await client.query<{ commits: string; others: string; bytes: string }>(
    `select sum(xact_commit) filter (where datname = $1) as commits,
       coalesce(sum(xact_commit) filter (where datname is distinct from $1), 0) as others, pg_database_size($1) as bytes
     from pg_stat_database`,
    [database],
  );
  const { commits, others, bytes } = rows[0]!;
  return { commits: Number(commits), otherCommits: Number(others), bytes: Number(bytes) };
}

/** How much write-ahead log the server has written, in bytes; undefined where the server does not tell, as on Aurora. */
export async function readWal(client: pg.Client): Promise<number | undefined> {
  try {
    const { rows } = await client.query<{ bytes: string }>(
      "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes",
    );
    return Number(rows[0]!.bytes);
  } catch {
    return undefined;
  }
}

export interface Sessions {
  open: number;
  /** Connections of the library's pool that execute a statement at this moment. */
  busy: number;
}

export async function countSessions(client: pg.Client, database: string): Promise<Sessions> {
  const { rows } = await client.query<Sessions>(
    `select count(*)::int as open, count(*) filter (where application_name = 'lanefold' and state <> 'idle')::int as busy
     from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
    [database],
  );
  return rows[0]!;
}
