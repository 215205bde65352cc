import type { Mutant } from '../../history/mutants/mutants.ts';

/** Changes that break a promise of one room. */
export const mutants: readonly Mutant[] = [
  {
    name: 'a claim does not ask which version its run wants',
    caughtBy: 'a-pinned-run-keeps-its-version',
    sql: { _claim_run: [['  if lanefold._wanted_version(r.options) is not null then\n', '  if false then\n']] },
  },
  {
    name: 'a run forgets the version that it is pinned to',
    caughtBy: 'a-pinned-run-keeps-its-version',
    sql: {
      _wanted_version: [
        [
          `case when jsonb_typeof(p_options -> 'pinned') = 'string' then p_options ->> 'pinned' else p_options ->> 'version' end`,
          `p_options ->> 'version'`,
        ],
      ],
    },
  },
  {
    name: 'the end of a run leaves its waits open',
    caughtBy: 'an-ended-run-waits-for-nothing',
    sql: { _leave_waits: [["run_id = p_run_id and status = 'open';", "run_id = p_run_id and status = 'never';"]] },
  },
  {
    name: 'a run whose last wait has ended stays suspended',
    caughtBy: 'a-suspended-run-waits',
    sql: { _resume_if_ready: [['if v_open > 0 then', 'if v_open >= 0 then']] },
  },
  {
    name: 'a run that is handed over keeps its agent',
    caughtBy: 'the-agent-is-the-last-one',
    sql: { _hand_over: [["set agent = p ->> 'agent'", 'set agent = agent']] },
  },
  {
    name: 'a handoff is not in the trace',
    caughtBy: 'a-handoff-is-in-the-trace',
    sql: { _commit_step: [["'k', 'handed_over'", "'k', 'handed_on'"]] },
  },
  {
    name: 'a slot starts its run beside the one before',
    caughtBy: 'a-schedule-has-one-run-at-a-time',
    sql: { take_slot: [["elsif p_active and s.overlap = 'skip' and not k.late then", 'elsif false then']] },
  },
  {
    name: 'a slot is never settled',
    caughtBy: 'every-slot-is-settled',
    sql: { settle_slot: [["and status = 'firing' and taken_at", "and status = 'never' and taken_at"]] },
  },
  {
    name: 'an endpoint is not told of runs that fail',
    caughtBy: 'every-end-is-told',
    sql: {
      _note_run_end: [['if r.finished_at is null then', "if r.finished_at is null or r.status <> 'completed' then"]],
    },
  },
  {
    name: 'an endpoint that wants order gets an event at once',
    caughtBy: 'in-order',
    sql: { _add_delivery: [['if w.ordered then', 'if false then']] },
  },
  {
    name: 'a delivery that waits for another one is never due',
    caughtBy: 'every-delivery-is-settled',
    sql: { _next_delivery: [['set next_at = p_at', 'set next_at = next_at']] },
  },
  {
    name: 'an eval runs all its items at once',
    caughtBy: 'an-eval-keeps-its-concurrency',
    sql: { take_eval_items: [['limit greatest(e.concurrency - v_active, 0))', 'limit 100)']] },
  },
  {
    name: 'an eval whose items are done does not end',
    caughtBy: 'every-eval-ends',
    sql: { _finish_eval: [["where id = p_eval and status = 'running'", "where id = p_eval and status = 'never'"]] },
  },
  {
    name: 'a run does not hold what it has taken of a limit',
    caughtBy: 'what-is-reserved-is-held',
    sql: { _take: [['v_place, v_amount, w.buckets[n].slice, 0)', 'v_place, 0, w.buckets[n].slice, 0)']] },
  },
  {
    name: 'a limit has room for a call beyond its amount',
    caughtBy: 'no-limit-is-exceeded',
    sql: { _ask_limit: [['elsif v_room < 0 or k.drained_until', 'elsif v_room < -50 or k.drained_until']] },
  },
  {
    name: 'a branch is shown before its run begins',
    caughtBy: 'a-waiting-branch-is-not-shown',
    sql: { branch: [['to_jsonb(b), v_shows and v_idle, p)', 'to_jsonb(b), v_shows, p)']] },
  },
  {
    name: 'the log shows a branch that waits',
    caughtBy: 'the-log-says-what-is-shown',
    sql: { _write_branch: [[`else '{"shown": false}' end`, `else '{}' end`]] },
  },
  {
    name: 'a circuit that is due is not probed',
    caughtBy: 'every-run-ends',
    sql: { _circuit_asked: [["if c.state = 'open' and c.open_until <= p_at or", 'if false or']] },
  },
  {
    name: 'a probe that was answered goes on',
    caughtBy: 'every-run-ends',
    sql: {
      _circuit_probed: [['return lanefold._circuit_closed(c, p_at);', "c.probe_until := p_at + interval '1 day';"]],
    },
  },
];
