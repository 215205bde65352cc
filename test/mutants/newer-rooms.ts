import type { Change } from './change.ts';

/** Mistakes that are easy to make in the newer rooms. */
export const newerRooms: Change[] = [
  // schedules
  {
    name: 'a worker settles a slot that another one has taken meanwhile',
    sql: { settle_slot: [["and status = 'firing' and taken_at = p_taken_at", "and status = 'firing'"]] },
  },
  {
    name: 'old slots are deleted with the last one that has fired',
    sql: { drop_slots: [["(k.status <> 'fired' or exists (", '(true or exists (']] },
  },
  {
    name: 'a schedule that is set again moves its next slot',
    sql: {
      set_schedule: [
        ["case when paused_at is null and timing <> p -> 'timing' then", 'case when paused_at is null then'],
      ],
    },
  },
  // waits and child runs
  {
    name: 'a wait that expires ends the other waits of its run',
    sql: { expire_waits: [["and k.status = 'open' and k.until < v_at order by", "and k.status = 'open' order by"]] },
  },
  {
    name: 'an event that is sent again is kept no longer than the first one',
    sql: { keep_event: [['keep_until = excluded.keep_until', 'keep_until = k.keep_until']] },
  },
  {
    name: 'a run that completes takes its child runs with it',
    sql: { _leave_waits: [["if p_status = 'completed' then", 'if false then']] },
  },
  {
    name: 'what a child run has cost is forgotten',
    sql: { end_child: [["child_cost = (p ->> 'cost')::float8", 'child_cost = 0']] },
  },
  // handoffs
  {
    name: 'the next agent gets the tools that the request allowed the first one',
    source: { 'src/runtime/run/hand-over.ts': [["    'allowed_tools',\n", '']] },
  },
  {
    name: 'a run is handed over once more than its agent allows',
    source: {
      'src/runtime/run/accept-handoff.ts': [['if (before < agent.maxHandoffs)', 'if (before <= agent.maxHandoffs)']],
    },
  },
  // webhooks
  {
    name: 'an attempt that was overtaken settles its delivery',
    sql: { settle_delivery: [["and status = 'pending' and attempts = p_attempt\n", "and status = 'pending'\n"]] },
  },
  {
    name: 'a secret of an endpoint signs after its time',
    sql: { take_delivery: [["where not s ? 'expires_at' or (s ->> 'expires_at')::timestamptz > v_at", 'where true']] },
  },
  {
    name: 'deliveries that are given up hold up those behind them',
    sql: { give_up_deliveries: [['perform lanefold._next_delivery(p_thread_id, p_webhook_id, v_at);', '']] },
  },
  // evals and monitors
  {
    name: 'an item of an eval is taken from the worker that starts its run',
    sql: { take_eval_items: [['and not i.held_until > v_at)', ')']] },
  },
  {
    name: 'an erased thread leaves what evals quote of it',
    sql: {
      erase_cases: [
        ["set status = 'erased', settled_at = v_at, answer = null,", "set status = 'erased', settled_at = v_at,"],
      ],
    },
  },
  {
    name: 'a score that comes late replaces the one that counts',
    sql: { store_run_score: [["where s.status = 'waiting' and excluded.status = 'done'", 'where true']] },
  },
  {
    name: 'an alert counts scores from before its monitor was changed',
    sql: { _check_alert: [[' and s.scored_at >= m.updated_at', '']] },
  },
  // versions and rollouts
  {
    name: 'a thread that is given a version of one agent forgets those of the others',
    sql: { set_thread_version: [["coalesce(versions, '{}') || jsonb_build_object", 'jsonb_build_object']] },
  },
  {
    name: 'a rollout moves conversations that began before it',
    source: { 'src/library/agents/version-chooser.ts': [['if (kept === null && hasRuns) return none;', '']] },
  },
  // access keys and tenants
  {
    name: 'the earlier secret of a rotated key outlives the key',
    sql: {
      rotate_key: [
        ["least(expires_at, v_at + p_overlap_ms * interval '1 ms')", "v_at + p_overlap_ms * interval '1 ms'"],
      ],
    },
  },
  {
    name: 'a key that expires makes one that does not',
    source: { 'src/access/grants.ts': [['if ((expiresAtMs ?? Infinity) >', 'if ((expiresAtMs ?? 0) >']] },
  },
  // streams
  {
    name: 'an append without a number forgets the last number of its stream',
    sql: { append_stream: [["last_seq = coalesce(p ->> 'seq', last_seq)", "last_seq = p ->> 'seq'"]] },
  },
  {
    name: 'streams without a thread are shared by all tenants',
    sql: { _stream_path: [["coalesce(nullif(lanefold._scope(), '*'), 'default')", "'default'"]] },
  },
];
