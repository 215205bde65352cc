import type { Check } from './check.ts';

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
    name: 'a limit of calls has counted every answered call, and none that it did not grant',
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
