import type pg from 'pg';

/** What the database has counted so far. */
export interface Counters {
  walBytes: number;
  commits: number;
  tables: TableCounters[];
  /** Pages and index entries read, by what they belong to. */
  reads: Record<string, number>;
}

export interface TableCounters {
  name: string;
  deadRows: number;
  updates: number;
  hotUpdates: number;
  deletes: number;
}

const shownSchemas = `schemaname in ('lanefold', 'bullmq')`;

export async function readCounters(client: pg.Client): Promise<Counters> {
  const { rows: totals } = await client.query<Pick<Counters, 'walBytes' | 'commits'>>(
    `select (pg_current_wal_insert_lsn() - '0/0')::float8 as "walBytes", xact_commit::float8 as commits
     from pg_stat_database where datname = current_database()`,
  );
  const { rows: tables } = await client.query<TableCounters>(
    `select schemaname || '.' || relname as name, n_dead_tup::float8 as "deadRows", n_tup_upd::float8 as updates,
       n_tup_hot_upd::float8 as "hotUpdates", n_tup_del::float8 as deletes
     from pg_stat_user_tables where ${shownSchemas} order by 1`,
  );
  const { rows: reads } = await client.query<{ what: string; count: number }>(
    `select 'pages of ' || schemaname || '.' || relname as what, (heap_blks_hit + heap_blks_read)::float8 as count
     from pg_statio_user_tables where ${shownSchemas}
     union all
     select 'pages of ' || schemaname || '.' || indexrelname, idx_blks_hit + idx_blks_read
     from pg_statio_user_indexes where ${shownSchemas}
     union all
     select 'entries of ' || schemaname || '.' || indexrelname, idx_tup_read from pg_stat_user_indexes where ${shownSchemas}
     union all
     select 'rows of ' || schemaname || '.' || relname || ' in sequential scans', seq_tup_read
     from pg_stat_user_tables where ${shownSchemas}`,
  );
  return { ...totals[0]!, tables, reads: Object.fromEntries(reads.map(({ what, count }) => [what, count])) };
}
