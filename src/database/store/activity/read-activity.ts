import type { Database } from '../../postgres/pool.ts';
import { fromRows } from '../rows.ts';
import type { SpentByModel } from '../run/spent.ts';
import type { FleetActivity } from '../worker/types.ts';
import { slotsOf, type Period, type Slots } from './slots.ts';

/** Runs of one slot or version that count under one model, and the tokens that this model spent. */
export interface Counted extends SpentByModel {
  agent: string;
  version: string | null;
  runs: number;
  failed: number;
  unanswered: number;
  unfinished: number;
}

/** How many runs of one slot or version have a mark, failed with an error, or waited about as long. */
export interface Fact {
  at: Date;
  agent: string;
  version: string | null;
  fact: 'mark' | 'error' | 'wait';
  value: string;
  runs: number;
  lastAt: Date;
}

/** The activity as the database recorded it. */
export interface RecordedActivity extends Pick<FleetActivity, 'workers' | 'deploys'>, Slots {
  /** By slot, of the agent and version that were asked for. */
  slots: Counted[];
  slotFacts: Fact[];
  /** By agent and version, of all of them; `at` is when the period begins. */
  agents: Counted[];
  agentFacts: Fact[];
}

export async function readActivity(db: Database, period: Period): Promise<RecordedActivity> {
  const [state] = await db.query<{ now: Date; counted_to: Date | '-infinity'; filled_to: Date }>(
    'activity_state',
    db.settings.distributed ? uncountedState : stateText,
  );
  const slots = slotsOf(period, state!.now, state!.filled_to);
  const [row] = await db.query<{ activity: Stored }>('activity', activityText(db.settings.distributed), [
    slots.since,
    period.until ? slots.until : 'infinity',
    slots.slotMinutes,
    slots.grain,
    slots.origin,
    state!.counted_to,
    period.agent ?? null,
    period.version ?? null,
  ]);
  const { workers, deploys, ...found } = row!.activity;
  return {
    ...slots,
    workers: fromRows(workers),
    deploys: fromRows(deploys),
    slots: fromRows(found.slots),
    slotFacts: fromRows(found.slot_facts),
    agents: fromRows(found.agents),
    agentFacts: fromRows(found.agent_facts),
  };
}

/** Each list is null if it is empty. */
type Stored = Record<'workers' | 'deploys' | 'slots' | 'slot_facts' | 'agents' | 'agent_facts', object[] | null>;

/**
 * Until counting has begun, the runs of the last hour are read: those of a longer time would be the whole table. `filled_to`:
 * the runs accepted since then are all counted or read.
 */
const stateText = `
  select n.at as now, case when s.counted_to is null then n.at - interval '1 hour' else s.counted_to - interval '10 minutes' end as counted_to,
         case when s.filled_to > '-infinity' then least(s.filled_to, s.counted_to)
           when s.counted_to is null and (select min(r.created_at) from lanefold._run r) < n.at - interval '1 hour' then n.at - interval '1 hour'
           else 'epoch' end as filled_to
  from (select lanefold._now() as at) n left join lanefold._activity_state s on s.id = 1`;

/** A distributed database counts nothing: its nodes read all runs of the period. */
const uncountedState =
  "select lanefold._now() as now, '-infinity'::timestamptz as counted_to, 'epoch'::timestamptz as filled_to";

const numbers = ['runs', 'failed', 'unanswered'];
const tokens = ['calls', 'input_tokens', 'output_tokens', 'cached_tokens', 'written_tokens'];
const sums = (columns: string[]): string => columns.map((name) => `sum(x.${name})::bigint as ${name}`).join(', ');
const slot = (at: string): string => `date_bin($3 * interval '1 minute', ${at}, $5)`;
const ofPeriod = 'x.minutes = $4 and x.at >= $1 and x.at < $2';
const asked = '($7::text is null or x.agent = $7) and ($8::text is null or x.agent_version = $8)';
const allSums = sums([...numbers, 'unfinished', ...tokens]);

const views = {
  _activity_run: ['model', ...numbers, ...tokens],
  _activity_run_fact: ['fact', 'value'],
};

/**
 * Runs that are not counted yet: those that ended since, and those that have not ended, which two small indexes have. A time
 * before is given, so that the planner knows how few have ended since; the time itself is read with the counts.
 */
function uncounted(view: keyof typeof views, distributed: boolean): string {
  const columns = ['created_at', 'finished_at', 'agent', 'agent_version', ...views[view]].map((name) => `r.${name}`);
  const runs = `select ${columns.join(', ')} from lanefold.${view} r`;
  if (distributed) return `(${runs} where r.created_at > $6)`;
  return `(
  ${runs}
  where r.finished_at > $6 and r.finished_at > (select coalesce(max(counted_to), '-infinity') from lanefold._activity_state)
    and r.trace_dropped_at is null
  union all ${runs} where r.active
  union all ${runs} where not r.active and r.finished_at is null)`;
}

export const activityText = (distributed: boolean): string => `
  with counts as materialized (
    select ${slot('x.at')} as at, x.agent, x.agent_version, x.model, 0 as unfinished, ${sums([...numbers, ...tokens])}
    from lanefold._activity x where ${ofPeriod} group by 1, 2, 3, 4
    union all
    select ${slot('x.created_at')} as at, x.agent, x.agent_version, x.model,
           sum(case when x.finished_at is null then x.runs else 0 end)::bigint as unfinished, ${sums([...numbers, ...tokens])}
    from ${uncounted('_activity_run', distributed)} x where x.created_at >= $1 and x.created_at < $2 group by 1, 2, 3, 4),
  facts as materialized (
    select ${slot('x.created_at')} as at, x.agent, x.agent_version, x.fact, x.value, count(*) as runs,
           max(coalesce(x.finished_at, x.created_at)) as last_at
    from ${uncounted('_activity_run_fact', distributed)} x where x.created_at >= $1 and x.created_at < $2 group by 1, 2, 3, 4, 5)
  select json_build_object(
    'workers', (select json_agg(w order by w.id) from (
      select worker_id as id, count(*) as runs, max(lease_until) as lease_until, min(started_at) as oldest_run_at
      from lanefold._run where active and status = 'running' and worker_id is not null group by worker_id) w),
    'deploys', (select json_agg(d order by d.at, d.agent, d.version) from (
      select x.first_at as at, x.agent, x.id as version, x.label from lanefold._agent_version x
      where x.first_at >= $1 and x.first_at < $2 and ($7::text is null or x.agent = $7) and ($8::text is null or x.id = $8)
      order by x.first_at desc limit 100) d),
    'slots', (select json_agg(s order by s.at) from (
      select x.at, x.model, ${allSums} from counts x where ${asked} group by 1, 2) s),
    'slot_facts', (select json_agg(f) from (
      select f.at, f.fact, f.value, sum(f.runs)::bigint as runs, max(f.last_at) as last_at from (
        select ${slot('x.at')} as at, x.fact, x.value, x.runs, x.last_at from lanefold._activity_fact x where ${ofPeriod} and ${asked}
        union all select x.at, x.fact, x.value, x.runs, x.last_at from facts x where ${asked}) f
      group by 1, 2, 3) f),
    'agents', (select json_agg(a) from (
      select $1::timestamptz as at, x.agent, nullif(x.agent_version, '') as version, x.model, ${allSums} from counts x group by 1, 2, 3, 4) a),
    'agent_facts', (select json_agg(f) from (
      select f.agent, nullif(f.agent_version, '') as version, f.fact, f.value, sum(f.runs)::bigint as runs from (
        select x.agent, x.agent_version, x.fact, x.value, x.runs from lanefold._activity_fact x where ${ofPeriod} and x.fact = 'mark'
        union all select x.agent, x.agent_version, x.fact, x.value, x.runs from facts x where x.fact = 'mark') f
      group by 1, 2, 3, 4) f)) as activity`;
