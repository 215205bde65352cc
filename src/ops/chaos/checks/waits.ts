import type { Check } from './check.ts';

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
        select count(*) as receipts from history.event_sent s cross join lateral jsonb_array_elements(s.released) x
        where s.event = w.event and x ->> 'threadId' = w.thread_id and x ->> 'runId' = w.run_id
          and (x ->> 'round')::int = w.round and (x ->> 'index')::int = w.call_index) n
      where w.kind = 'event' and (n.receipts > case when w.status = 'resolved' then 1 else 0 end
        or (w.status = 'resolved' and not exists (select from history.event_sent s where s.event = w.event and s.content = t.told)))`,
  },
];
