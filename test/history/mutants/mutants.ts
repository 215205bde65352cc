import type { Change } from '../../mutants/change.ts';
import type { Runtime } from './runtime.ts';

/** A change that breaks one promise. */
export interface Mutant extends Pick<Change, 'name' | 'sql'> {
  /** The check that must find it. */
  caughtBy: string;
  /** Indexes that would refuse what the mutant does. */
  withoutIndexes?: string[];
  /** Steps of the runtime that it breaks. */
  runtime?: Partial<Runtime>;
}

export const mutants: Mutant[] = [
  {
    name: 'the receipt of an append is not stored',
    caughtBy: 'linearizable-appends',
    sql: { append_entries: [['if v_op is not null then\n    insert into', 'if false then\n    insert into']] },
  },
  {
    name: 'the entries of an append are in reverse order',
    caughtBy: 'linearizable-appends',
    sql: { _insert_entries: [['p_first + n - 1', 'p_first + jsonb_array_length(p_entries) - n']] },
  },
  {
    name: 'an append does not compare the expected rev',
    caughtBy: 'linearizable-appends',
    sql: { append_entries: [["perform lanefold._check_rev(t, (p_options ->> 'expected_rev')::bigint);", '']] },
  },
  {
    name: 'an append leaves a gap after it',
    caughtBy: 'gapless-log',
    sql: {
      append_entries: [
        ['set rev = v_first + jsonb_array_length(v_drafts),', 'set rev = v_first + jsonb_array_length(v_drafts) + 1,'],
      ],
    },
  },
  {
    name: 'a claim does not raise the fence',
    caughtBy: 'monotonic-fences',
    sql: {
      _claim_run: [["v_lease := r.lease + coalesce((p ->> 'lease_gap')::int, 1);", 'v_lease := greatest(r.lease, 1);']],
    },
  },
  {
    name: 'a step does not compare the fence',
    caughtBy: 'monotonic-fences',
    sql: { _commit_step: [['if r.lease is distinct from p_lease or (r.status', 'if (r.status']] },
  },
  {
    name: 'steps that share a statement do not compare the fence',
    caughtBy: 'monotonic-fences',
    sql: { _plain_steps: [['where r.lease = c.lease and', 'where']] },
  },
  {
    name: 'a tool call is recorded without comparing the fence',
    caughtBy: 'monotonic-fences',
    sql: {
      _record_tool_call: [["r.lease is distinct from p_lease or r.status <> 'running'", "r.status <> 'running'"]],
    },
  },
  {
    name: 'a worker ends a run without comparing the fence',
    caughtBy: 'monotonic-fences',
    sql: { finish_run: [["(r.lease <> p_lease or r.status <> 'running')", "r.status <> 'running'"]] },
  },
  {
    name: 'a renewal accepts the lease of another worker',
    caughtBy: 'monotonic-fences',
    sql: {
      renew_leases: [
        ["where k.lease = h.lease and k.status = 'running'", "where k.status = 'running'"],
        ["k.lease is distinct from h.lease or k.status <> 'running' as lost", "k.status <> 'running' as lost"],
        ['coalesce(k.lease = h.lease and k.status', 'coalesce(k.status'],
      ],
    },
  },
  {
    name: 'a claim ignores the lease of another worker',
    caughtBy: 'exclusive-leases',
    sql: { _lease_over: [['select p_until <', 'select true or p_until <']] },
  },
  {
    name: 'a renewal does not extend the lease',
    caughtBy: 'exclusive-leases',
    sql: {
      renew_leases: [
        ['set lease_until = v_until', 'set lease_until = r.lease_until'],
        [' and k.lease_until = v_until, false)', ', false)'],
      ],
    },
  },
  {
    name: 'a step does not extend the lease',
    caughtBy: 'exclusive-leases',
    sql: { _commit_step: [['r.lease_until := v_at + p_lease_ms', 'r.lease_until := r.lease_until + 0']] },
  },
  {
    name: 'a recorded tool call does not extend the lease',
    caughtBy: 'exclusive-leases',
    sql: { _record_tool_call: [['set lease_until = v_until where', 'set lease_until = lease_until where']] },
  },
  {
    name: 'a step that is sent again is written again',
    caughtBy: 'commits-once',
    sql: { _commit_step: [['elsif p_step < r.step then', 'elsif false then']] },
  },
  {
    name: 'a step that is sent again is told another place',
    caughtBy: 'commits-once',
    sql: { _first_seq: [['offset v_count - 1 limit 1', 'offset v_count limit 1']] },
  },
  {
    name: 'a request that is sent again becomes another run',
    caughtBy: 'requests-once',
    sql: { _accepted_before: [['if found then\n    if r.request_hash', 'if false then\n    if r.request_hash']] },
    withoutIndexes: ['_run_request'],
  },
  {
    name: 'the end of a run promotes two waiting ones',
    caughtBy: 'one-active-run',
    sql: {
      _promote_next_run: [
        [
          'where thread_id = p_thread_id and id = v_next',
          'where thread_id = p_thread_id and not active and finished_at is null',
        ],
      ],
    },
    withoutIndexes: ['_run_active'],
  },
  {
    name: 'every claim starts the run again',
    caughtBy: 'starts-once',
    sql: {
      _claim_run: [
        ['v_fresh := r.started_at is null;', 'v_fresh := true;'],
        ['perform lanefold._note_lost_worker(p_thread_id, r, v_at);', 'null;'],
        ['input = null, limited_by', 'limited_by'],
      ],
    },
  },
  {
    name: 'the last step forgets the cancel',
    caughtBy: 'cancels-win',
    sql: { _complete_run: [['if r.cancel_requested_at is not null then', 'if false then']] },
  },
  {
    name: 'a run that has ended is ended again',
    caughtBy: 'one-end',
    sql: {
      cancel_run: [['elsif r.finished_at is not null then', 'elsif false then']],
      finish_run: [['elsif r.finished_at is not null then', 'elsif false then']],
    },
  },
  {
    name: 'input that was injected stays queued',
    caughtBy: 'inputs-once',
    sql: { _drain_inputs: [["set status = 'injected'", "set status = 'queued'"]] },
  },
  {
    name: 'a sealed run takes input',
    caughtBy: 'inputs-once',
    sql: { _check_input: [['elsif r.sealed_at is not null then', 'elsif false then']] },
  },
  {
    name: 'an operation that is sent again is applied again',
    caughtBy: 'operations-once',
    sql: {
      apply_operation: [
        [
          'from lanefold.context_op where thread_id = p_thread_id and op_id = p_op_id;',
          'from lanefold.context_op where false;',
        ],
      ],
    },
  },
  {
    name: 'a deferred operation is applied at the end of every run',
    caughtBy: 'operations-once',
    sql: {
      _apply_pending: [['set pending_op_id = null', 'set pending_op_id = pending_op_id']],
      _write_operation: [["set status = 'applied', operation = null,", "set status = 'applied',"]],
    },
  },
  {
    name: 'the last decision counts',
    caughtBy: 'first-decision',
    sql: {
      decide_tool_call: [
        ["elsif c.approval ? 'decision' then", 'elsif false then'],
        ["elsif c.status <> 'awaiting_approval' then", 'elsif false then'],
      ],
    },
  },
  {
    name: 'a later outcome of a tool replaces the first',
    caughtBy: 'outcomes-stay',
    sql: { _record_tool_call: [['and outcome is null and result_seq is null', 'and result_seq is null']] },
  },
  {
    name: 'the start of a tool is not stored',
    caughtBy: 'never-twice',
    sql: {
      _record_tool_call: [
        [
          "set status = p ->> 'status',",
          "set status = case p ->> 'status' when 'started' then status else p ->> 'status' end,",
        ],
      ],
    },
  },
  {
    name: 'a worker runs a call that it finds started',
    caughtBy: 'never-twice',
    runtime: { afterCrash: async () => undefined },
  },
  {
    name: 'the context lacks the last message',
    caughtBy: 'claims-fold',
    sql: { _lane_messages: [['e.seq > anchor_seq and e.seq <= p_upto', 'e.seq > anchor_seq and e.seq < p_upto']] },
  },
  {
    name: 'a worker drops the first message of its context',
    caughtBy: 'claims-fold',
    runtime: { take: (claim) => (claim.claimed ? { ...claim, context: claim.context.slice(1) } : claim) },
  },
  {
    name: 'a fork takes over entries after the one it is forked at',
    caughtBy: 'forks-begin-there',
    sql: {
      fork_source: [
        ['lanefold._fork_context(p_thread_id, v_ref, v_seq,', 'lanefold._fork_context(p_thread_id, v_ref, t.rev - 1,'],
      ],
    },
  },
  {
    name: 'a reservation does not return',
    caughtBy: 'reservations-conserved',
    sql: { _settle_limit: [['k.reserved := k.reserved - p_reserved;', '']] },
  },
  {
    name: 'a reservation returns twice',
    caughtBy: 'reservations-conserved',
    sql: { _settle_limit: [['k.reserved := k.reserved - p_reserved;', 'k.reserved := k.reserved - 2 * p_reserved;']] },
  },
];
