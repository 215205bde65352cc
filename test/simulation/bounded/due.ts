import { wanted } from '../rooms/versions.ts';

/** SQL: whether a worker with the agents $1 in the versions $2 can execute a run. */
const can = (row: string) =>
  `${row}.agent = any ($1::text[]) and (${wanted(row)} is null or ${row}.agent || '@' || (${wanted(row)}) = any ($2::text[]))`;

const queries: Record<string, string> = {
  'idle-leaves-no-run': `
    select format('run %s of %s (enqueue_no %s, lease %s)', r.id, r.thread_id, r.enqueue_no, r.lease) from lanefold._run r
    where r.active and r.status = 'queued' and r.ready_at <= c.at and r.limited_by is null and ${can('r')}`,
  'idle-leaves-no-lost-run': `
    select format('run %s of %s, which was lost under lease %s', r.id, r.thread_id, r.lease) from lanefold._run r
    where r.status = 'running' and r.lease_until < c.at - interval '100 ms' and ${can('r')}`,
  'idle-leaves-no-expired-run': `
    select format('run %s of %s, which expires at %s', r.id, r.thread_id, r.expires_at) from lanefold._run r
    where r.finished_at is null and r.started_at is null and r.expires_at < c.at`,
  'idle-leaves-no-expired-wait': `
    select format('run %s of %s, suspended until %s', r.id, r.thread_id, r.suspended_until) from lanefold._run r
    where r.status = 'suspended' and r.suspended_until < c.at`,
  'idle-leaves-no-cancelled-run': `
    select format('run %s of %s, to be cancelled since %s', r.id, r.thread_id, r.cancel_requested_at) from lanefold._run r
    where r.status = 'running' and r.cancel_requested_at < c.at - interval '5100 ms' and r.lease_until < c.at`,
  'idle-leaves-no-delivery': `
    select format('delivery %s of %s, attempt %s', d.id, d.thread_id, d.attempts) from lanefold._webhook_delivery d
    join lanefold._webhook w on w.id = d.webhook_id
    where d.status = 'pending' and d.next_at <= c.at and w.paused_at is null and w.removed_at is null and w.failures = 0`,
  'idle-leaves-no-event': `
    select format('event %s of %s at %s', v.type, v.thread_id, v.created_at) from lanefold._webhook_event v
    where exists (select from lanefold._webhook w where w.id = any (v.webhook_ids) and w.paused_at is null and w.removed_at is null and w.failures = 0)`,
  'idle-leaves-no-slot': `
    select format('slot %s of %s', s.next_at, s.name) from lanefold._schedule s where s.next_at <= c.at and s.agent = any ($1::text[])`,
  'idle-leaves-no-parent-untold': `
    select format('the end of %s of %s, for %s', k.run_id, k.thread_id, k.parent_run_id) from lanefold._child_run k
    where k.ended_at < c.at - interval '2100 ms' and k.told_at is null`,
  'idle-leaves-no-task': `
    select format('the %s of call %s.%s of %s', w.task, w.round, w.call_index, w.run_id) from lanefold._wait w
    where w.task is not null and w.created_at < c.at - interval '2100 ms' and (w.task <> 'start' or w.request ->> 'agent' = any ($1::text[]))`,
  'idle-leaves-no-closed-circuit': `
    select format('run %s of %s, which waited for %s since %s', r.id, r.thread_id, k.model, r.limited_by ->> 'since') from lanefold._run r
    join lanefold._circuit k on k.model = r.limited_by ->> 'circuit' and k.state = 'closed'
    where r.status = 'queued' and ${can('r')}`,
  'idle-leaves-no-open-limit': `
    select format('run %s of %s, which waited for %s since %s', r.id, r.thread_id, r.limited_by ->> 'limit', r.limited_by ->> 'since') from lanefold._run r
    where r.status = 'queued' and r.limited_by ? 'limit' and ${can('r')} and not exists (
      select from lanefold._limit l where l.name = r.limited_by ->> 'limit' and l.amount < 1000000)`,
};

/** SQL: everything that is due for a worker with the agents $1 in the versions $2. */
export const due = `with c as materialized (select lanefold._now() as at) ${Object.entries(queries)
  .map(([name, query]) => `select '${name}' as name, x.what from c, lateral (${query}) as x (what)`)
  .join(' union all ')}`;
