import type { Check } from './check.ts';

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
