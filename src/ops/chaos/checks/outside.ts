import type { Check } from './runs.ts';
import { neverRuns } from '../provider.ts';

/**
 * The calls of the limited agent: `asked_at`, when its process had last asked the limits for the run, so that the call was
 * granted between then and `at`; `ended_at`, until when its run was at work for certain; `by_holder`, whether the process
 * held the run; `logged`, whether the log has the answer; `lost_before`, the end of the last crash, in which the database
 * may have lost what it had counted.
 */
export const limitedCalls = `
  create materialized view history.limited_call as
  select c.no, c.thread_id, r.id as run_id, c.at, a.asked_at, c.tokens,
    least(c.ended_at, r.finished_at, n.at) as ended_at, coalesce(w.worker_id = l.worker_id, false) as by_holder,
    e.thread_id is not null as logged, e.at as logged_at,
    (select max(x.at) from history.crash x where x.at <= c.at) as lost_before
  from history.provider_call c
  left join lanefold.run r on r.thread_id = c.thread_id
  left join history.worker w on w.pid = c.pid
  left join lateral (select max(k.at) as asked_at from history.limit_ask k where k.run_id = r.id and k.pid = c.pid and k.at <= c.at) a on true
  left join lateral (select worker_id from history.lease k where k.run_id = r.id and k.at <= c.at order by k.lease desc limit 1) l on true
  left join lateral (select min(k.at) as at from history.lease k where k.run_id = r.id and k.at > c.at) n on true
  left join lateral (
    select m.thread_id, m.at from lanefold.thread_entry m where m.thread_id = c.thread_id and m.role = 'assistant'
      and substring(m.payload ->> 'content' from '^Answer (\\d+)')::int = c.no limit 1) e on true
  where c.model = 'plain'`;

/** Calls granted after the end of the last crash: the limits know of them all. */
const known = (call: string) => `${call}.asked_at > coalesce(c.lost_before, '-infinity')`;

/** What the provider of the campaign saw in its own log. */
export const providerLog: Check[] = [
  {
    invariant: 'I4',
    name: 'every request that a provider gets is well-formed',
    holds: 'always',
    sql: `select thread_id, no, model, problem from history.provider_call where problem is not null`,
  },
  {
    invariant: 'I12',
    name: 'a call of a limited run is made after its process has asked the limits',
    holds: 'always',
    sql: `select thread_id, run_id, no, at from history.limited_call where asked_at is null`,
  },
  {
    invariant: 'I12',
    name: 'no window of an interval has more calls or tokens than the limit, by the log of the provider',
    holds: 'at_rest',
    // all of them were granted between the first question and the last arrival, which are less than an interval apart
    sql: `
      select c.thread_id, c.run_id, c.no, c.at, s.name, s.amount, x.used from history.limited_call c
      join history.strict_limit s on s.per_ms is not null
      cross join lateral (
        select case s.kind when 'requests' then count(*) else sum(d.tokens) filter (where d.logged) end as used
        from history.limited_call d
        where d.at <= c.at and d.asked_at > c.at - s.per_ms * interval '1 ms' and ${known('d')}) x
      where x.used > s.amount`,
  },
  {
    invariant: 'I12',
    name: 'no more runs are at work than a limit of slots lets, by the log of the provider',
    holds: 'at_rest',
    sql: `
      select c.thread_id, c.run_id, c.no, c.at, s.name, s.amount, x.runs from history.limited_call c
      join history.strict_limit s on s.kind = 'concurrency'
      cross join lateral (
        select count(distinct d.thread_id) as runs from history.limited_call d
        where d.by_holder and d.at <= c.at and d.ended_at > c.at and not exists (
          select from history.limited_call f where f.thread_id = d.thread_id and not ${known('f')})) x
      where x.runs > s.amount`,
  },
  {
    invariant: 'I12',
    name: 'a limit of tokens has counted what its runs have used: all that the log has, and no more than the provider gave',
    holds: 'at_rest',
    sql: `
      select null as thread_id, s.name, u.total, x.logged, y.given from history.strict_limit s
      join lanefold.limit_usage u on u.name = s.name
      cross join (
        select coalesce(sum((r.usage ->> 'total_tokens')::bigint), 0) as logged from lanefold.run r where r.agent = 'chaos-limited') x
      cross join (select coalesce(sum(tokens), 0) as given from history.limited_call) y
      where s.kind = 'tokens' and u.total not between x.logged and greatest(x.logged, y.given)`,
  },
  {
    invariant: 'I12',
    name: 'a limit of calls has counted every answered call, and no call that it did not grant',
    holds: 'at_rest',
    // calls that were under way in a crash may be missing; a question whose answer was lost may have been granted
    sql: `
      select null as thread_id, s.name, u.total, x.answered, y.granted from history.strict_limit s
      join lanefold.limit_usage u on u.name = s.name
      cross join (
        select count(*) as answered from history.limited_call c where c.logged and not exists (
          select from history.crash k where c.asked_at <= k.at and c.logged_at >= k.began_at)) x
      cross join (
        select count(*) as granted from history.limit_ask a join lanefold.run r on r.id = a.run_id
        where r.agent = 'chaos-limited' and a.refused is not true) y
      where s.kind = 'requests' and u.total not between x.answered and y.granted`,
  },
];

/** What the receiver of webhooks saw in its own log. */
export const receiverLog: Check[] = [
  {
    invariant: 'I14',
    name: 'every end of a run reaches every webhook',
    holds: 'at_rest',
    sql: `
      select r.thread_id, r.id as run_id, r.status, w.name from lanefold.run r
      join history.webhook w on w.since < r.finished_at
      where not exists (
        select from history.webhook_request q where q.accepted and q.webhook = w.name and q.thread_id = r.thread_id
          and q.run_id = r.id and q.type = 'run.' || r.status)`,
  },
  {
    invariant: 'I14',
    name: 'a webhook is told only of runs that have ended, and how',
    holds: 'always',
    sql: `
      select q.thread_id, q.run_id, q.webhook, q.type, r.status from history.webhook_request q
      left join lanefold.run r on r.thread_id = q.thread_id and r.id = q.run_id
      where r.finished_at is null or q.type <> 'run.' || r.status`,
  },
  {
    invariant: 'I14',
    name: 'every request of a webhook is signed with its secret',
    holds: 'always',
    sql: `select thread_id, run_id, webhook, id from history.webhook_request where not signed`,
  },
  {
    invariant: 'I14',
    name: 'an event has one id for each webhook, however often it is sent',
    holds: 'always',
    sql: `
      select min(thread_id) as thread_id, webhook, min(run_id) as run_id, min(id) as id from history.webhook_request
      group by webhook, thread_id, run_id, type having count(distinct id) > 1
      union all
      select min(thread_id), min(webhook), min(run_id), id from history.webhook_request
      group by id having count(distinct (webhook, thread_id, run_id, type)) > 1`,
  },
  {
    invariant: 'I14',
    name: 'an ordered webhook has the events of a thread in the order in which they happened',
    holds: 'at_rest',
    sql: `
      select a.thread_id, a.webhook, a.run_id as first, b.run_id as after from (
        select q.webhook, q.thread_id, q.run_id, min(q.n) as n, min(r.finished_at) as finished_at
        from history.webhook_request q join lanefold.run r on r.thread_id = q.thread_id and r.id = q.run_id
        where q.accepted group by 1, 2, 3) a
      join (
        select q.webhook, q.thread_id, q.run_id, min(q.n) as n, min(r.finished_at) as finished_at
        from history.webhook_request q join lanefold.run r on r.thread_id = q.thread_id and r.id = q.run_id
        where q.accepted group by 1, 2, 3) b on b.webhook = a.webhook and b.thread_id = a.thread_id and b.n < a.n
      join history.webhook w on w.name = a.webhook and w.ordered
      where b.finished_at > a.finished_at`,
  },
];

/** What tools recorded of calls that the provider wrote in odd ways. */
export const oddCalls: Check[] = [
  {
    invariant: 'I16',
    name: 'no tool starts for a call of a cut answer, or with arguments that are no JSON object',
    holds: 'always',
    // the provider gives such calls ids by which they are known
    sql: `
      select c.thread_id, c.run_id, c.round, c.call_index, c.name, s.pid, s.at from history.tool_start s
      join lanefold.run_tool_call c on c.run_id = s.run_id and c.round = s.round and c.call_index = s.call_index
      where starts_with(c.tool_call_id, '${neverRuns}')`,
  },
];

/** Every slot of a schedule has one outcome, and at most one run. */
export const slots: Check[] = [
  {
    invariant: 'I13',
    name: 'every slot that came while a schedule was watched is listed',
    holds: 'always',
    sql: `
      select null as thread_id, s.name, g.slot from history.schedule s
      cross join lateral (
        select to_timestamp(n * s.every_ms / 1000.0) as slot from generate_series(
          ceil(extract(epoch from s.set_at) * 1000 / s.every_ms)::bigint,
          floor(extract(epoch from s.last_slot) * 1000 / s.every_ms)::bigint) n) g
      left join lanefold.schedule_slot k on k.name = s.name and k.slot = g.slot
      where k.name is null`,
  },
  {
    invariant: 'I13',
    name: 'a slot has a run if and only if it fired, and no other slot has that run',
    holds: 'always',
    sql: `
      select k.thread_id, k.run_id, k.name, k.slot, k.status, r.id is not null as has_run, k.slots from (
        select *, count(*) over (partition by thread_id, run_id) as slots from lanefold.schedule_slot) k
      left join lanefold.run r on r.thread_id = k.thread_id and r.id = k.run_id
      where k.status in ('fired', 'skipped', 'missed', 'failed')
        and ((k.status = 'fired') <> (r.id is not null) or (k.status = 'fired' and k.slots > 1))`,
  },
  {
    invariant: 'I13',
    name: 'every run of a schedule belongs to one of its slots',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.request_id from lanefold.run r
      where r.request_id like 'schedule:%' and not exists (
        select from lanefold.schedule_slot k where k.thread_id = r.thread_id and k.run_id = r.id)`,
  },
  {
    invariant: 'I13',
    name: 'no slot is left to start once the schedules are paused',
    holds: 'at_rest',
    sql: `select thread_id, name, slot, status from lanefold.schedule_slot where status in ('due', 'firing')`,
  },
];

/** Every wait of a call ends once, for a reason. */
export const waits: Check[] = [
  {
    invariant: 'I15',
    name: 'a wait that has ended has one end in the trace, unless its run ended first',
    holds: 'always',
    sql: `
      select w.thread_id, w.run_id, w.round, w.call_index, w.kind, w.status, count(e.event_seq) as ends from lanefold.run_wait w
      left join lanefold.run_event e on e.thread_id = w.thread_id and e.run_id = w.run_id and e.kind = 'wait_ended'
        and (e.data ->> 'round')::int = w.round and (e.data ->> 'index')::int = w.call_index
      where w.kind <> 'approval'
      group by 1, 2, 3, 4, 5, 6
      having count(e.event_seq) <> case when w.status in ('open', 'abandoned') then 0 else 1 end`,
  },
  {
    invariant: 'I15',
    name: 'a wait that has a time ends by itself only after it',
    holds: 'always',
    sql: `
      select thread_id, run_id, round, call_index, kind, status, until, ended_at from lanefold.run_wait
      where ended_at < until and (status = 'expired' or (kind = 'time' and status = 'resolved'))`,
  },
  {
    invariant: 'I15',
    name: 'a wait for an event ends with a payload that was sent, and no two receipts name it',
    holds: 'always',
    sql: `
      select w.thread_id, w.run_id, w.round, w.call_index, w.event, w.status, t.told, n.receipts from lanefold.run_wait w
      join lanefold._tool_call c on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index
      left join lanefold.thread_entry e on e.thread_id = c.thread_id and e.seq = c.result_seq
      cross join lateral (select coalesce(e.payload, c.outcome) ->> 'content' as told) t
      cross join lateral (
        select count(*) as receipts from history.event_sent s cross join lateral jsonb_array_elements(s.resolved) x
        where s.event = w.event and x ->> 'threadId' = w.thread_id and x ->> 'runId' = w.run_id
          and (x ->> 'round')::int = w.round and (x ->> 'index')::int = w.call_index) n
      where w.kind = 'event' and (n.receipts > case when w.status = 'resolved' then 1 else 0 end
        or (w.status = 'resolved' and not exists (select from history.event_sent s where s.event = w.event and s.content = t.told)))`,
  },
];
