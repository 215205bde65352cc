import type { Database } from '../../postgres/pool.ts';

const [blocks, inBlock] = [20, 500];

/**
 * How many runs the statistics of recent runs look at, newest first, so that their cost does not grow with the traffic. At most
 * twice as many if many were accepted in the same microsecond.
 */
export const countedRuns = blocks * inBlock;

/**
 * SQL: the newest runs of all agents that were accepted within `hours`, at most `countedRuns`, as the common table
 * expressions `clock`, `recent` with `columns` of the runs, and `counted` with the time `since` which it has all runs.
 *
 * Goes block by block through the index of their creation. For one long range, the planner would read and sort the whole
 * table instead: it expects a third of the runs within any period, and fewer behind a policy. So it does for the range of a block
 * without a limit: of twelve million runs it read them all, in eight seconds.
 */
export const recentRuns = ({ settings }: Database, columns: string, hours: string): string =>
  settings.distributed ? atOnce(columns, hours) : inBlocks(columns, hours);

const start = (hours: string): string => `clock as materialized (
  select c.at, c.at - ${hours}::float8 * interval '1 hour' as start from (select lanefold._now() as at) c)`;

const inBlocks = (columns: string, hours: string): string => `recursive ${start(hours)},
  edge as (
    select 0 as n, 'infinity'::timestamptz as at
    union all
    select e.n + 1, b.at from edge e
    cross join lateral (
      select min(x.created_at) as at from (
        select r.created_at from lanefold._run r
        where r.created_at < e.at and r.created_at > (select start from clock) order by r.created_at desc limit ${inBlock}) x) b
    where e.n < ${blocks} and b.at is not null),
  recent as materialized (
    select b.created_at, ${columns} from edge low join edge high on high.n = low.n - 1
    cross join lateral (
      select created_at, ${columns} from lanefold._run
      where created_at >= low.at and created_at < high.at order by created_at desc limit ${2 * inBlock}) b),
  counted as materialized (
    select case when max(n) = ${blocks} then min(at) else (select start from clock) end as since from edge)`;

/** A distributed database can neither walk nor look up block by block. */
const atOnce = (columns: string, hours: string): string => `${start(hours)},
  recent as materialized (
    select created_at, ${columns} from lanefold._run
    where created_at > (select start from clock) order by created_at desc limit ${countedRuns}),
  counted as materialized (
    select case when count(*) < ${countedRuns} then (select start from clock) else min(created_at) end as since from recent)`;
