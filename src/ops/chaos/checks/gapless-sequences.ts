import type { Check } from './check.ts';

/** Sequence numbers have no gaps: entries and events of a thread, events of a run. */
export const gaplessSequences: Check[] = [
  {
    invariant: 'I1',
    name: 'rev = number of entries = highest seq + 1',
    holds: 'always',
    sql: `
      select t.id as thread_id, t.rev, count(e.seq) as entries, max(e.seq) as last_seq
      from lanefold.thread t left join lanefold.thread_entry e on e.thread_id = t.id where t.erased_at is null
      group by t.id having t.rev <> count(e.seq) or t.rev <> coalesce(max(e.seq) + 1, 0)`,
  },
  {
    invariant: 'I1',
    name: 'event_rev = number of events = highest event_seq + 1',
    holds: 'always',
    sql: `
      select t.id as thread_id, t.event_rev, count(e.event_seq) as events, max(e.event_seq) as last_seq
      from lanefold.thread t left join lanefold.run_event e on e.thread_id = t.id where t.erased_at is null
      group by t.id having t.event_rev <> count(e.event_seq) or t.event_rev <> coalesce(max(e.event_seq) + 1, 0)
        or count(distinct e.event_seq) <> count(e.event_seq)`,
  },
  {
    invariant: 'I1',
    name: 'the events of a run are numbered 1, 2, 3, …',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.event_count, count(e.seq) as events, max(e.seq) as last_seq
      from lanefold.run r left join lanefold.run_event e on e.thread_id = r.thread_id and e.run_id = r.id
      group by r.thread_id, r.id, r.event_count having count(e.seq) <> r.event_count
        or coalesce(max(e.seq), 0) <> r.event_count or count(distinct e.seq) <> r.event_count`,
  },
];
