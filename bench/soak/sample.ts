import type pg from 'pg';

export interface Sample extends TableSample {
  seconds: number;
  /** Runs so far. */
  accepted: number;
  skipped: number;
  /** Total of all worker processes. */
  residentMb: number;
}

export interface TableSample {
  completed: number;
  /** Accepted but not ended. */
  open: number;
  /** Time from request to end, for runs that ended since the last sample. */
  p50Ms: number;
  p95Ms: number;
  tables: TableSize[];
}

export interface TableSize {
  name: string;
  /** With TOAST. */
  tableMb: number;
  indexMb: number;
  deadRows: number;
}

/** Reads the sizes and dead rows of all tables, and the durations of runs that ended in the last seconds. */
export async function sampleTables(pool: pg.Pool, lastSeconds: number): Promise<TableSample> {
  const { rows: tables } = await pool.query<TableSize>(`
    select schemaname || '.' || relname as name, pg_table_size(relid)::float8 / 1e6 as "tableMb",
      pg_indexes_size(relid)::float8 / 1e6 as "indexMb", n_dead_tup::float8 as "deadRows"
    from pg_stat_user_tables where schemaname in ('lanefold', 'bullmq') order by 1`);
  const { rows: runs } = await pool.query<Omit<TableSample, 'tables'>>(
    `select (select count(*)::int from lanefold._run where status = 'completed') as completed,
       (select count(*)::int from lanefold._run where finished_at is null) as open,
       coalesce(round(percentile_cont(0.5) within group (order by ms))::int, 0) as "p50Ms",
       coalesce(round(percentile_cont(0.95) within group (order by ms))::int, 0) as "p95Ms"
     from (select extract(epoch from finished_at - created_at) * 1000 as ms from lanefold._run
       where finished_at > now() - $1 * interval '1 s' and trace_dropped_at is null) ended`,
    [lastSeconds],
  );
  return { ...runs[0]!, tables };
}
