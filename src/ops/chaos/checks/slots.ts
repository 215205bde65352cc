import type { Check } from './check.ts';

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
