// Generated from the catalog of the database: run `npm run types:db`.

/** What each function of the database takes and returns; any argument may be null. */
export interface DatabaseFunctions {
  advance_monitor: {
    takes: {
      tenant: string | null;
      name: string | null;
      takenAt: Date | string | null;
      p: object | string | null;
      holdMs: number | null;
    };
    returns: boolean;
  };
  advance_schedule: {
    takes: {
      tenant: string | null;
      name: string | null;
      version: number | string | null;
      from: Date | string | null;
      next: Date | string | null;
      slots: object | string | null;
    };
    returns: unknown;
  };
  append_entries: {
    takes: { threadId: string | null; entries: object | string | null; options: object | string | null };
    returns: unknown;
  };
  append_history: {
    takes: {
      threadId: string | null;
      entries: object | string | null;
      lane: object | string | null;
      options: object | string | null;
    };
    returns: unknown;
  };
  append_stream: {
    takes: { thread: string | null; name: string | null; p: object | string | null; data: readonly Buffer[] | null };
    returns: unknown;
  };
  apply_operation: {
    takes: {
      threadId: string | null;
      opId: string | null;
      contextRef: string | null;
      operation: object | string | null;
      options: object | string | null;
    };
    returns: unknown;
  };
  attempt: {
    takes: { threadId: string | null; function: string | null; args: object | string | null };
    returns: unknown;
  };
  attempt_all: {
    takes: { calls: object | string | null };
    returns: { result: unknown; locked: boolean; error: unknown };
  };
  audit_read: { takes: { threadId: string | null; p: object | string | null }; returns: void };
  await_eval_judge: {
    takes: { eval: string | null; no: number | null; takenAt: Date | string | null; p: object | string | null };
    returns: boolean;
  };
  await_limit: {
    takes: {
      threadId: string | null;
      runId: string | null;
      enqueueNo: number | null;
      limitedBy: object | string | null;
    };
    returns: unknown;
  };
  branch: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  call_context: {
    takes: { threadId: string | null; llmCallId: string | null };
    returns: {
      ordinal: number;
      seq: number;
      role: string;
      content: unknown;
      tool_calls: unknown;
      tool_call_id: string;
      name: string;
      thinking: string;
      reasoning_details: unknown;
      provider_metadata: unknown;
      altered: string;
    };
  };
  cancel_eval: { takes: { eval: string | null; by: string | null }; returns: unknown };
  cancel_run: { takes: { threadId: string | null; runId: string | null; reason: string | null }; returns: unknown };
  change_config: {
    takes: { threadId: string | null; contextRef: string | null; changes: object | string | null };
    returns: unknown;
  };
  claim_failed: {
    takes: { threadId: string | null; runId: string | null; enqueueNo: number | null; p: object | string | null };
    returns: unknown;
  };
  claim_run: {
    takes: { threadId: string | null; runId: string | null; enqueueNo: number | null; p: object | string | null };
    returns: unknown;
  };
  close_circuit: { takes: { model: string | null; by: string | null }; returns: boolean };
  commit_step: {
    takes: {
      threadId: string | null;
      runId: string | null;
      lease: number | string | null;
      step: number | null;
      leaseMs: number | null;
      p: object | string | null;
    };
    returns: unknown;
  };
  configure_tenant: { takes: { tenantId: string | null; p: object | string | null }; returns: void };
  context_diff: {
    takes: {
      threadId: string | null;
      contextRef: string | null;
      upto: number | string | null;
      otherThreadId: string | null;
      otherContextRef: string | null;
      otherUpto: number | string | null;
    };
    returns: {
      change: string;
      ordinal: number;
      seq: number;
      other_ordinal: number;
      other_seq: number;
      role: string;
      content: unknown;
      tool_calls: unknown;
      tool_call_id: string;
      name: string;
    };
  };
  count_activity: { takes: { most: number | null }; returns: boolean };
  count_attempt: {
    takes: {
      tenant: string | null;
      webhookId: string | null;
      delivered: boolean | null;
      gone: boolean | null;
      failures: number | null;
      days: number | null;
    };
    returns: void;
  };
  count_dropped: { takes: { tenant: string | null; webhookId: string | null; count: number | null }; returns: void };
  create_fork: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  create_key: { takes: { hash: Buffer | null; p: object | string | null }; returns: void };
  create_stream: {
    takes: { thread: string | null; name: string | null; p: object | string | null; data: readonly Buffer[] | null };
    returns: unknown;
  };
  create_thread: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  decide_tool_call: {
    takes: {
      threadId: string | null;
      runId: string | null;
      round: number | null;
      callIndex: number | null;
      p: object | string | null;
    };
    returns: unknown;
  };
  delay_run: {
    takes: {
      threadId: string | null;
      runId: string | null;
      lease: number | string | null;
      limitedBy: object | string | null;
    };
    returns: unknown;
  };
  delete_stream: { takes: { thread: string | null; name: string | null }; returns: string };
  drop_alarm_counts: { takes: { days: number | null; limit: number | null }; returns: number };
  drop_circuits: { takes: { days: number | null; limit: number | null }; returns: number };
  drop_deliveries: { takes: { threadId: string | null; ids: object | string | null }; returns: number };
  drop_eval_thread: { takes: { tenant: string | null; thread: string | null }; returns: void };
  drop_expired_streams: { takes: { most: number | null }; returns: number };
  drop_idle_buckets: {
    takes: { after: readonly string[] | null; days: number | null; most: number | null };
    returns: readonly string[];
  };
  drop_kept_events: { takes: { most: number | null }; returns: number };
  drop_run_scores: { takes: { days: number | null; limit: number | null }; returns: number };
  drop_slots: { takes: { days: number | null; most: number | null }; returns: number };
  drop_trace: { takes: { threadId: string | null; runIds: readonly string[] | null }; returns: number };
  end_child: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  end_wait: {
    takes: {
      threadId: string | null;
      runId: string | null;
      round: number | null;
      callIndex: number | null;
      p: object | string | null;
    };
    returns: unknown;
  };
  end_wait_task: {
    takes: {
      threadId: string | null;
      runId: string | null;
      round: number | null;
      callIndex: number | null;
      task: string | null;
    };
    returns: boolean;
  };
  enqueue_input: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  enqueue_run: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  erase_alarms: { takes: { tenant: string | null }; returns: void };
  erase_cases: { takes: { source: string | null }; returns: number };
  erase_conversation: { takes: { threadId: string | null }; returns: unknown };
  erase_evals: { takes: { tenant: string | null }; returns: void };
  erase_kept_events: { takes: { tenant: string | null }; returns: void };
  erase_schedules: { takes: { tenant: string | null }; returns: void };
  erase_streams: { takes: { thread: string | null; tenant: string | null }; returns: void };
  erase_thread: { takes: { threadId: string | null }; returns: void };
  erase_webhooks: { takes: { tenant: string | null; by: string | null }; returns: void };
  expire_waits: {
    takes: { threadId: string | null; runId: string | null; prefix: string | null; adoptMs: number | null };
    returns: unknown;
  };
  extend_eval_item: {
    takes: { eval: string | null; no: number | null; more: number | string | null };
    returns: number;
  };
  fail_expired: { takes: { threadId: string | null; runId: string | null }; returns: unknown };
  fail_unknown_agent: {
    takes: { threadId: string | null; runId: string | null; limitMs: number | null };
    returns: unknown;
  };
  finish_cancelled_run: { takes: { threadId: string | null; runId: string | null }; returns: unknown };
  finish_run: {
    takes: { threadId: string | null; runId: string | null; lease: number | string | null; p: object | string | null };
    returns: unknown;
  };
  forget_webhook: { takes: { tenant: string | null; webhookId: string | null }; returns: void };
  fork_source: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  give_feedback: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  give_up_deliveries: {
    takes: { threadId: string | null; webhookId: string | null; ids: object | string | null };
    returns: number;
  };
  grant_role: { takes: { role: string | null; duty: string | null; tenant: string | null }; returns: void };
  hold_eval_item: {
    takes: { eval: string | null; no: number | null; takenAt: Date | string | null; holdMs: number | null };
    returns: boolean;
  };
  holding_limit_accounts: {
    takes: { ms: number | null; most: number | null };
    returns: { thread_id: string; run_id: string };
  };
  idle_limit_accounts: {
    takes: { ms: number | null; most: number | null };
    returns: { thread_id: string; run_id: string };
  };
  import_thread: { takes: { threadId: string | null; p: object | string | null }; returns: unknown };
  keep_case: { takes: { tenant: string | null; id: string | null; p: object | string | null }; returns: unknown };
  keep_event: {
    takes: {
      tenant: string | null;
      event: string | null;
      content: string | null;
      keepMs: number | null;
      by: string | null;
    };
    returns: void;
  };
  lane_config_at: {
    takes: { threadId: string | null; contextRef: string | null; upto: number | string | null };
    returns: { field: string; value: unknown; seq: number };
  };
  lane_context_at: {
    takes: { threadId: string | null; contextRef: string | null; upto: number | string | null };
    returns: {
      thread_id: string;
      context_ref: string;
      anchor_seq: number;
      ordinal: number;
      seq: number;
      role: string;
      content: unknown;
      tool_calls: unknown;
      tool_call_id: string;
      name: string;
      thinking: string;
      reasoning_details: unknown;
      provider_metadata: unknown;
      run_id: string;
      request_id: string;
      refs: unknown;
    };
  };
  lane_digest: {
    takes: { threadId: string | null; contextRef: string | null; upto: number | string | null };
    returns: string;
  };
  lanes_from_log: {
    takes: { threadId: string | null };
    returns: { context_ref: string; anchor_seq: number; last_seq: number; open_calls: number };
  };
  loss_cause: {
    takes: { workerId: string | null; seenAt: Date | string | null; askedBy: string | null };
    returns: string;
  };
  mark_job_missing: {
    takes: { threadId: string | null; runId: string | null; enqueueNo: number | null };
    returns: void;
  };
  mark_job_seen: { takes: { threadId: string | null; runId: string | null; enqueueNo: number | null }; returns: void };
  min_compatible_version: { takes: Record<never, never>; returns: number };
  move_for_tools: {
    takes: { threadId: string | null; runId: string | null; p: object | string | null };
    returns: unknown;
  };
  move_run: {
    takes: { threadId: string | null; runId: string | null; enqueueNo: number | null; patienceMs: number | null };
    returns: boolean;
  };
  name_key: { takes: { tenantId: string | null }; returns: string };
  new_events: {
    takes: { threadId: string | null; head: number | string | null; limit: number | null };
    returns: {
      erased: boolean;
      event_seq: number;
      run_id: string;
      seq: number;
      kind: string;
      iteration: number;
      data: unknown;
      at: Date;
    };
  };
  note_restore: {
    takes: { threadId: string | null; runId: string | null; p: object | string | null };
    returns: unknown;
  };
  open_circuit: { takes: { model: string | null; p: object | string | null }; returns: void };
  open_endpoints: {
    takes: { each: number | null; failing: number | null; only: object | string | null };
    returns: { id: string; failing: boolean; free: number; due: unknown };
  };
  open_slots: {
    takes: {
      agents: object | string | null;
      limit: number | null;
      againMs: number | null;
      after: object | string | null;
      waiting: boolean | null;
    };
    returns: { result: unknown };
  };
  pause_alarm: {
    takes: { tenant: string | null; name: string | null; paused: boolean | null; by: string | null };
    returns: boolean;
  };
  pause_schedule: {
    takes: {
      tenant: string | null;
      name: string | null;
      version: number | string | null;
      paused: boolean | null;
      nextAt: Date | string | null;
      by: string | null;
    };
    returns: unknown;
  };
  pause_webhook: {
    takes: { tenant: string | null; name: string | null; paused: boolean | null; by: string | null };
    returns: boolean;
  };
  plan_eval_run: {
    takes: { eval: string | null; no: number | null; takenAt: Date | string | null; p: object | string | null };
    returns: boolean;
  };
  plan_judge: {
    takes: {
      tenant: string | null;
      name: string | null;
      thread: string | null;
      run: string | null;
      holdMs: number | null;
    };
    returns: void;
  };
  probe_circuit: {
    takes: { model: string | null; probe: string | null; rule: object | string | null };
    returns: unknown;
  };
  queue_run_again: {
    takes: { threadId: string | null; runId: string | null; enqueueNo: number | null; p: object | string | null };
    returns: { thread_id: string; run_id: string; agent: string; enqueue_no: number; queue_shard: number };
  };
  read_content: {
    takes: { threadId: string | null; id: string | null; offset: number | null; length: number | null };
    returns: unknown;
  };
  read_run: { takes: { threadId: string | null; runId: string | null }; returns: unknown };
  read_stream: {
    takes: { thread: string | null; name: string | null; from: number | string | null; bytes: number | null };
    returns: { stream: unknown; data: Buffer; next: number };
  };
  rebuild_lanes: { takes: { threadId: string | null }; returns: void };
  record_tool_call: {
    takes: {
      threadId: string | null;
      runId: string | null;
      lease: number | string | null;
      leaseMs: number | null;
      round: number | null;
      callIndex: number | null;
      p: object | string | null;
    };
    returns: unknown;
  };
  record_versions: { takes: { p: object | string | null }; returns: void };
  redeliver: {
    takes: { threadId: string | null; id: string | null; webhookId: string | null; by: string | null };
    returns: boolean;
  };
  release_run: {
    takes: { threadId: string | null; runId: string | null; lease: number | string | null; stopping: boolean | null };
    returns: { thread_id: string; run_id: string; agent: string; enqueue_no: number; queue_shard: number };
  };
  remove_alarm: { takes: { tenant: string | null; name: string | null; by: string | null }; returns: boolean };
  remove_case: { takes: { id: string | null; by: string | null }; returns: boolean };
  remove_eval: { takes: { eval: string | null; by: string | null }; returns: boolean };
  remove_limit: { takes: { owner: string | null; name: string | null; by: string | null }; returns: boolean };
  remove_monitor: { takes: { tenant: string | null; name: string | null; by: string | null }; returns: boolean };
  remove_rollout: { takes: { agent: string | null; by: string | null }; returns: boolean };
  remove_schedule: {
    takes: { tenant: string | null; name: string | null; by: string | null; source: string | null };
    returns: boolean;
  };
  remove_webhook: { takes: { tenant: string | null; name: string | null; by: string | null }; returns: boolean };
  renew_lease: {
    takes: { threadId: string | null; runId: string | null; lease: number | string | null; leaseMs: number | null };
    returns: { lost: boolean; cancel_requested: boolean; renewed: boolean };
  };
  renew_leases: {
    takes: { leases: object | string | null; leaseMs: number | null };
    returns: { thread_id: string; run_id: string; lost: boolean; cancel_requested: boolean; renewed: boolean };
  };
  report_circuits: { takes: { calls: object | string | null; rule: object | string | null }; returns: unknown };
  report_worker: { takes: { id: string | null; p: object | string | null }; returns: void };
  rescore_eval: { takes: { eval: string | null; by: string | null; queue: string | null }; returns: number };
  reserve_eval_item: {
    takes: { eval: string | null; no: number | null; takenAt: Date | string | null; micros: number | string | null };
    returns: string;
  };
  resume_run: {
    takes: { threadId: string | null; runId: string | null; step: number | null; prefix: string | null };
    returns: unknown;
  };
  revoke_key: { takes: { id: string | null; by: string | null }; returns: boolean };
  revoke_role: { takes: { role: string | null }; returns: void };
  rotate_key: {
    takes: { id: string | null; hash: Buffer | null; createdBy: string | null; overlapMs: number | null };
    returns: boolean;
  };
  rotate_webhook: {
    takes: { tenant: string | null; name: string | null; keepMs: number | null; by: string | null };
    returns: string;
  };
  run_ended: { takes: { threadId: string | null; runId: string | null }; returns: boolean };
  run_marks: {
    takes: { threadId: string | null; runIds: readonly string[] | null };
    returns: { run_id: string; kind: string; seq: number; llm_call_id: string; data: unknown };
  };
  schema_version: { takes: Record<never, never>; returns: number };
  set_alarm: { takes: { tenant: string | null; name: string | null; p: object | string | null }; returns: void };
  set_limit: { takes: { owner: string | null; name: string | null; p: object | string | null }; returns: number };
  set_monitor: { takes: { tenant: string | null; name: string | null; p: object | string | null }; returns: void };
  set_rollout: { takes: { agent: string | null; p: object | string | null }; returns: void };
  set_schedule: { takes: { tenant: string | null; name: string | null; p: object | string | null }; returns: unknown };
  set_thread_version: {
    takes: { threadId: string | null; agent: string | null; version: string | null; by: string | null };
    returns: void;
  };
  set_webhook: {
    takes: { tenant: string | null; name: string | null; id: string | null; p: object | string | null };
    returns: unknown;
  };
  settle_alarm: {
    takes: {
      tenant: string | null;
      name: string | null;
      takenAt: Date | string | null;
      p: object | string | null;
      holdMs: number | null;
    };
    returns: boolean;
  };
  settle_deliveries: {
    takes: { threadId: string | null; p: object | string | null; waits: boolean | null };
    returns: unknown;
  };
  settle_eval_item: {
    takes: { eval: string | null; no: number | null; takenAt: Date | string | null; p: object | string | null };
    returns: boolean;
  };
  settle_slot: {
    takes: {
      tenant: string | null;
      name: string | null;
      slot: Date | string | null;
      takenAt: Date | string | null;
      p: object | string | null;
    };
    returns: void;
  };
  spread_event: {
    takes: {
      threadId: string | null;
      type: string | null;
      key: string | null;
      begin: object | string | null;
      leaseMs: number | null;
    };
    returns: unknown;
  };
  start_eval: { takes: { tenant: string | null; id: string | null; p: object | string | null }; returns: void };
  start_eval_item: {
    takes: { eval: string | null; no: number | null; takenAt: Date | string | null; p: object | string | null };
    returns: boolean;
  };
  store_run_score: {
    takes: { tenant: string | null; name: string | null; p: object | string | null };
    returns: boolean;
  };
  suspend_run: {
    takes: {
      threadId: string | null;
      runId: string | null;
      lease: number | string | null;
      step: number | null;
      p: object | string | null;
    };
    returns: unknown;
  };
  take_alarms: { takes: { holdMs: number | null; limit: number | null }; returns: { result: unknown } };
  take_deliveries: {
    takes: { threadId: string | null; p: object | string | null; leaseMs: number | null; waits: boolean | null };
    returns: unknown;
  };
  take_eval_items: {
    takes: { eval: string | null; agents: object | string | null; holdMs: number | null };
    returns: { result: unknown };
  };
  take_eval_scoring: { takes: { eval: string | null; no: number | null; holdMs: number | null }; returns: string };
  take_eval_threads: { takes: { limit: number | null; holdMs: number | null }; returns: { result: unknown } };
  take_monitors: {
    takes: {
      queue: string | null;
      scorers: object | string | null;
      agents: object | string | null;
      holdMs: number | null;
      limit: number | null;
    };
    returns: { result: unknown };
  };
  take_slot: {
    takes: {
      tenant: string | null;
      name: string | null;
      slot: Date | string | null;
      agents: object | string | null;
      active: boolean | null;
      againMs: number | null;
    };
    returns: unknown;
  };
  test_webhook: {
    takes: { threadId: string | null; tenant: string | null; webhookId: string | null; by: string | null };
    returns: string;
  };
  thread_state_at: { takes: { threadId: string | null; upto: number | string | null }; returns: unknown };
  told_parent: { takes: { threadId: string | null; runId: string | null }; returns: void };
  unattended_ms: {
    takes: {
      queuePrefix: string | null;
      agent: string | null;
      version: string | null;
      strategy: string | null;
      tools: readonly string[] | null;
      since: Date | string | null;
    };
    returns: number;
  };
  unattended_reason: {
    takes: {
      queuePrefix: string | null;
      agent: string | null;
      version: string | null;
      strategy: string | null;
      tools: readonly string[] | null;
    };
    returns: string;
  };
  update_case: { takes: { id: string | null; p: object | string | null }; returns: boolean };
  use_limits: { takes: { calls: object | string | null }; returns: { result: unknown } };
  verify_call: { takes: { threadId: string | null; llmCallId: string | null }; returns: boolean };
  verify_thread: { takes: { threadId: string | null }; returns: { seq: number; upto: number; problem: string } };
  write_audit: { takes: { p: object | string | null }; returns: void };
}
/** The arguments of each function in their order, and the statement that calls it. */
export const databaseFunctions = {
  advance_monitor: {
    takes: ['tenant', 'name', 'takenAt', 'p', 'holdMs'],
    text: `select r.result as result from lanefold.advance_monitor($1, $2, $3, $4, $5) as r (result)`,
    returns: 'value',
  },
  advance_schedule: {
    takes: ['tenant', 'name', 'version', 'from', 'next', 'slots'],
    text: `select r.result as result from lanefold.advance_schedule($1, $2, $3, $4, $5, $6) as r (result)`,
    returns: 'value',
  },
  append_entries: {
    takes: ['threadId', 'entries', 'options'],
    text: `select lanefold.append_entries($1, $2, $3) as result`,
    returns: 'value',
  },
  append_history: {
    takes: ['threadId', 'entries', 'lane', 'options'],
    text: `select lanefold.append_history($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  append_stream: {
    takes: ['thread', 'name', 'p', 'data'],
    text: `select r.result as result from lanefold.append_stream($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  apply_operation: {
    takes: ['threadId', 'opId', 'contextRef', 'operation', 'options'],
    text: `select lanefold.apply_operation($1, $2, $3, $4, $5) as result`,
    returns: 'value',
  },
  attempt: {
    takes: ['threadId', 'function', 'args'],
    text: `select lanefold.attempt($1, $2, $3) as result`,
    returns: 'value',
  },
  attempt_all: {
    takes: ['calls'],
    text: `select result, locked, error from lanefold.attempt_all($1)`,
    returns: 'rows',
  },
  audit_read: { takes: ['threadId', 'p'], text: `select lanefold.audit_read($1, $2) as result`, returns: 'value' },
  await_eval_judge: {
    takes: ['eval', 'no', 'takenAt', 'p'],
    text: `select r.result as result from lanefold.await_eval_judge($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  await_limit: {
    takes: ['threadId', 'runId', 'enqueueNo', 'limitedBy'],
    text: `select lanefold.await_limit($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  branch: { takes: ['threadId', 'p'], text: `select lanefold.branch($1, $2) as result`, returns: 'value' },
  call_context: {
    takes: ['threadId', 'llmCallId'],
    text: `select ordinal::float8 as ordinal, seq::float8 as seq, role, content, tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata, altered from lanefold.call_context($1, $2)`,
    returns: 'rows',
  },
  cancel_eval: {
    takes: ['eval', 'by'],
    text: `select r.result as result from lanefold.cancel_eval($1, $2) as r (result)`,
    returns: 'value',
  },
  cancel_run: {
    takes: ['threadId', 'runId', 'reason'],
    text: `select lanefold.cancel_run($1, $2, $3) as result`,
    returns: 'value',
  },
  change_config: {
    takes: ['threadId', 'contextRef', 'changes'],
    text: `select lanefold.change_config($1, $2, $3) as result`,
    returns: 'value',
  },
  claim_failed: {
    takes: ['threadId', 'runId', 'enqueueNo', 'p'],
    text: `select lanefold.claim_failed($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  claim_run: {
    takes: ['threadId', 'runId', 'enqueueNo', 'p'],
    text: `select lanefold.claim_run($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  close_circuit: {
    takes: ['model', 'by'],
    text: `select r.result as result from lanefold.close_circuit($1, $2) as r (result)`,
    returns: 'value',
  },
  commit_step: {
    takes: ['threadId', 'runId', 'lease', 'step', 'leaseMs', 'p'],
    text: `select lanefold.commit_step($1, $2, $3, $4, $5, $6) as result`,
    returns: 'value',
  },
  configure_tenant: {
    takes: ['tenantId', 'p'],
    text: `select from lanefold.configure_tenant($1, $2)`,
    returns: 'value',
  },
  context_diff: {
    takes: ['threadId', 'contextRef', 'upto', 'otherThreadId', 'otherContextRef', 'otherUpto'],
    text: `select change, ordinal::float8 as ordinal, seq::float8 as seq, other_ordinal::float8 as other_ordinal, other_seq::float8 as other_seq, role, content, tool_calls, tool_call_id, name from lanefold.context_diff($1, $2, $3, $4, $5, $6)`,
    returns: 'rows',
  },
  count_activity: {
    takes: ['most'],
    text: `select r.result as result from lanefold.count_activity($1) as r (result)`,
    returns: 'value',
  },
  count_attempt: {
    takes: ['tenant', 'webhookId', 'delivered', 'gone', 'failures', 'days'],
    text: `select from lanefold.count_attempt($1, $2, $3, $4, $5, $6)`,
    returns: 'value',
  },
  count_dropped: {
    takes: ['tenant', 'webhookId', 'count'],
    text: `select from lanefold.count_dropped($1, $2, $3)`,
    returns: 'value',
  },
  create_fork: { takes: ['threadId', 'p'], text: `select lanefold.create_fork($1, $2) as result`, returns: 'value' },
  create_key: { takes: ['hash', 'p'], text: `select from lanefold.create_key($1, $2)`, returns: 'value' },
  create_stream: {
    takes: ['thread', 'name', 'p', 'data'],
    text: `select r.result as result from lanefold.create_stream($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  create_thread: {
    takes: ['threadId', 'p'],
    text: `select lanefold.create_thread($1, $2) as result`,
    returns: 'value',
  },
  decide_tool_call: {
    takes: ['threadId', 'runId', 'round', 'callIndex', 'p'],
    text: `select lanefold.decide_tool_call($1, $2, $3, $4, $5) as result`,
    returns: 'value',
  },
  delay_run: {
    takes: ['threadId', 'runId', 'lease', 'limitedBy'],
    text: `select lanefold.delay_run($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  delete_stream: {
    takes: ['thread', 'name'],
    text: `select r.result as result from lanefold.delete_stream($1, $2) as r (result)`,
    returns: 'value',
  },
  drop_alarm_counts: {
    takes: ['days', 'limit'],
    text: `select r.result as result from lanefold.drop_alarm_counts($1, $2) as r (result)`,
    returns: 'value',
  },
  drop_circuits: {
    takes: ['days', 'limit'],
    text: `select r.result as result from lanefold.drop_circuits($1, $2) as r (result)`,
    returns: 'value',
  },
  drop_deliveries: {
    takes: ['threadId', 'ids'],
    text: `select lanefold.drop_deliveries($1, $2) as result`,
    returns: 'value',
  },
  drop_eval_thread: {
    takes: ['tenant', 'thread'],
    text: `select from lanefold.drop_eval_thread($1, $2)`,
    returns: 'value',
  },
  drop_expired_streams: {
    takes: ['most'],
    text: `select r.result as result from lanefold.drop_expired_streams($1) as r (result)`,
    returns: 'value',
  },
  drop_idle_buckets: {
    takes: ['after', 'days', 'most'],
    text: `select r.result as result from lanefold.drop_idle_buckets($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  drop_kept_events: {
    takes: ['most'],
    text: `select r.result as result from lanefold.drop_kept_events($1) as r (result)`,
    returns: 'value',
  },
  drop_run_scores: {
    takes: ['days', 'limit'],
    text: `select r.result as result from lanefold.drop_run_scores($1, $2) as r (result)`,
    returns: 'value',
  },
  drop_slots: {
    takes: ['days', 'most'],
    text: `select r.result as result from lanefold.drop_slots($1, $2) as r (result)`,
    returns: 'value',
  },
  drop_trace: { takes: ['threadId', 'runIds'], text: `select lanefold.drop_trace($1, $2) as result`, returns: 'value' },
  end_child: { takes: ['threadId', 'p'], text: `select lanefold.end_child($1, $2) as result`, returns: 'value' },
  end_wait: {
    takes: ['threadId', 'runId', 'round', 'callIndex', 'p'],
    text: `select lanefold.end_wait($1, $2, $3, $4, $5) as result`,
    returns: 'value',
  },
  end_wait_task: {
    takes: ['threadId', 'runId', 'round', 'callIndex', 'task'],
    text: `select lanefold.end_wait_task($1, $2, $3, $4, $5) as result`,
    returns: 'value',
  },
  enqueue_input: {
    takes: ['threadId', 'p'],
    text: `select lanefold.enqueue_input($1, $2) as result`,
    returns: 'value',
  },
  enqueue_run: { takes: ['threadId', 'p'], text: `select lanefold.enqueue_run($1, $2) as result`, returns: 'value' },
  erase_alarms: { takes: ['tenant'], text: `select from lanefold.erase_alarms($1)`, returns: 'value' },
  erase_cases: {
    takes: ['source'],
    text: `select r.result as result from lanefold.erase_cases($1) as r (result)`,
    returns: 'value',
  },
  erase_conversation: {
    takes: ['threadId'],
    text: `select lanefold.erase_conversation($1) as result`,
    returns: 'value',
  },
  erase_evals: { takes: ['tenant'], text: `select from lanefold.erase_evals($1)`, returns: 'value' },
  erase_kept_events: { takes: ['tenant'], text: `select from lanefold.erase_kept_events($1)`, returns: 'value' },
  erase_schedules: { takes: ['tenant'], text: `select from lanefold.erase_schedules($1)`, returns: 'value' },
  erase_streams: { takes: ['thread', 'tenant'], text: `select from lanefold.erase_streams($1, $2)`, returns: 'value' },
  erase_thread: { takes: ['threadId'], text: `select lanefold.erase_thread($1) as result`, returns: 'value' },
  erase_webhooks: { takes: ['tenant', 'by'], text: `select from lanefold.erase_webhooks($1, $2)`, returns: 'value' },
  expire_waits: {
    takes: ['threadId', 'runId', 'prefix', 'adoptMs'],
    text: `select lanefold.expire_waits($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  extend_eval_item: {
    takes: ['eval', 'no', 'more'],
    text: `select r.result::float8 as result from lanefold.extend_eval_item($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  fail_expired: {
    takes: ['threadId', 'runId'],
    text: `select lanefold.fail_expired($1, $2) as result`,
    returns: 'value',
  },
  fail_unknown_agent: {
    takes: ['threadId', 'runId', 'limitMs'],
    text: `select lanefold.fail_unknown_agent($1, $2, $3) as result`,
    returns: 'value',
  },
  finish_cancelled_run: {
    takes: ['threadId', 'runId'],
    text: `select lanefold.finish_cancelled_run($1, $2) as result`,
    returns: 'value',
  },
  finish_run: {
    takes: ['threadId', 'runId', 'lease', 'p'],
    text: `select lanefold.finish_run($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  forget_webhook: {
    takes: ['tenant', 'webhookId'],
    text: `select from lanefold.forget_webhook($1, $2)`,
    returns: 'value',
  },
  fork_source: { takes: ['threadId', 'p'], text: `select lanefold.fork_source($1, $2) as result`, returns: 'value' },
  give_feedback: {
    takes: ['threadId', 'p'],
    text: `select lanefold.give_feedback($1, $2) as result`,
    returns: 'value',
  },
  give_up_deliveries: {
    takes: ['threadId', 'webhookId', 'ids'],
    text: `select lanefold.give_up_deliveries($1, $2, $3) as result`,
    returns: 'value',
  },
  grant_role: {
    takes: ['role', 'duty', 'tenant'],
    text: `select from lanefold.grant_role($1, $2, $3)`,
    returns: 'value',
  },
  hold_eval_item: {
    takes: ['eval', 'no', 'takenAt', 'holdMs'],
    text: `select r.result as result from lanefold.hold_eval_item($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  holding_limit_accounts: {
    takes: ['ms', 'most'],
    text: `select thread_id, run_id from lanefold.holding_limit_accounts($1, $2)`,
    returns: 'rows',
  },
  idle_limit_accounts: {
    takes: ['ms', 'most'],
    text: `select thread_id, run_id from lanefold.idle_limit_accounts($1, $2)`,
    returns: 'rows',
  },
  import_thread: {
    takes: ['threadId', 'p'],
    text: `select lanefold.import_thread($1, $2) as result`,
    returns: 'value',
  },
  keep_case: {
    takes: ['tenant', 'id', 'p'],
    text: `select r.result as result from lanefold.keep_case($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  keep_event: {
    takes: ['tenant', 'event', 'content', 'keepMs', 'by'],
    text: `select from lanefold.keep_event($1, $2, $3, $4, $5)`,
    returns: 'value',
  },
  lane_config_at: {
    takes: ['threadId', 'contextRef', 'upto'],
    text: `select field, value, seq::float8 as seq from lanefold.lane_config_at($1, $2, $3)`,
    returns: 'rows',
  },
  lane_context_at: {
    takes: ['threadId', 'contextRef', 'upto'],
    text: `select thread_id, context_ref, anchor_seq::float8 as anchor_seq, ordinal::float8 as ordinal, seq::float8 as seq, role, content, tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata, run_id, request_id, refs from lanefold.lane_context_at($1, $2, $3)`,
    returns: 'rows',
  },
  lane_digest: {
    takes: ['threadId', 'contextRef', 'upto'],
    text: `select lanefold.lane_digest($1, $2, $3) as result`,
    returns: 'value',
  },
  lanes_from_log: {
    takes: ['threadId'],
    text: `select context_ref, anchor_seq::float8 as anchor_seq, last_seq::float8 as last_seq, open_calls from lanefold.lanes_from_log($1)`,
    returns: 'rows',
  },
  loss_cause: {
    takes: ['workerId', 'seenAt', 'askedBy'],
    text: `select r.result as result from lanefold.loss_cause($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  mark_job_missing: {
    takes: ['threadId', 'runId', 'enqueueNo'],
    text: `select lanefold.mark_job_missing($1, $2, $3) as result`,
    returns: 'value',
  },
  mark_job_seen: {
    takes: ['threadId', 'runId', 'enqueueNo'],
    text: `select lanefold.mark_job_seen($1, $2, $3) as result`,
    returns: 'value',
  },
  min_compatible_version: {
    takes: [],
    text: `select r.result as result from lanefold.min_compatible_version() as r (result)`,
    returns: 'value',
  },
  move_for_tools: {
    takes: ['threadId', 'runId', 'p'],
    text: `select lanefold.move_for_tools($1, $2, $3) as result`,
    returns: 'value',
  },
  move_run: {
    takes: ['threadId', 'runId', 'enqueueNo', 'patienceMs'],
    text: `select lanefold.move_run($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  name_key: {
    takes: ['tenantId'],
    text: `select r.result as result from lanefold.name_key($1) as r (result)`,
    returns: 'value',
  },
  new_events: {
    takes: ['threadId', 'head', 'limit'],
    text: `select erased, event_seq::float8 as event_seq, run_id, seq, kind, iteration, data, at from lanefold.new_events($1, $2, $3)`,
    returns: 'rows',
  },
  note_restore: {
    takes: ['threadId', 'runId', 'p'],
    text: `select lanefold.note_restore($1, $2, $3) as result`,
    returns: 'value',
  },
  open_circuit: { takes: ['model', 'p'], text: `select from lanefold.open_circuit($1, $2)`, returns: 'value' },
  open_endpoints: {
    takes: ['each', 'failing', 'only'],
    text: `select id, failing, free, due from lanefold.open_endpoints($1, $2, $3)`,
    returns: 'rows',
  },
  open_slots: {
    takes: ['agents', 'limit', 'againMs', 'after', 'waiting'],
    text: `select r.result as result from lanefold.open_slots($1, $2, $3, $4, $5) as r (result)`,
    returns: 'rows',
  },
  pause_alarm: {
    takes: ['tenant', 'name', 'paused', 'by'],
    text: `select r.result as result from lanefold.pause_alarm($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  pause_schedule: {
    takes: ['tenant', 'name', 'version', 'paused', 'nextAt', 'by'],
    text: `select r.result as result from lanefold.pause_schedule($1, $2, $3, $4, $5, $6) as r (result)`,
    returns: 'value',
  },
  pause_webhook: {
    takes: ['tenant', 'name', 'paused', 'by'],
    text: `select r.result as result from lanefold.pause_webhook($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  plan_eval_run: {
    takes: ['eval', 'no', 'takenAt', 'p'],
    text: `select r.result as result from lanefold.plan_eval_run($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  plan_judge: {
    takes: ['tenant', 'name', 'thread', 'run', 'holdMs'],
    text: `select from lanefold.plan_judge($1, $2, $3, $4, $5)`,
    returns: 'value',
  },
  probe_circuit: {
    takes: ['model', 'probe', 'rule'],
    text: `select r.result as result from lanefold.probe_circuit($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  queue_run_again: {
    takes: ['threadId', 'runId', 'enqueueNo', 'p'],
    text: `select thread_id, run_id, agent, enqueue_no, queue_shard from lanefold.queue_run_again($1, $2, $3, $4)`,
    returns: 'rows',
  },
  read_content: {
    takes: ['threadId', 'id', 'offset', 'length'],
    text: `select lanefold.read_content($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  read_run: { takes: ['threadId', 'runId'], text: `select lanefold.read_run($1, $2) as result`, returns: 'value' },
  read_stream: {
    takes: ['thread', 'name', 'from', 'bytes'],
    text: `select stream, data, next::float8 as next from lanefold.read_stream($1, $2, $3, $4)`,
    returns: 'rows',
  },
  rebuild_lanes: { takes: ['threadId'], text: `select lanefold.rebuild_lanes($1) as result`, returns: 'value' },
  record_tool_call: {
    takes: ['threadId', 'runId', 'lease', 'leaseMs', 'round', 'callIndex', 'p'],
    text: `select lanefold.record_tool_call($1, $2, $3, $4, $5, $6, $7) as result`,
    returns: 'value',
  },
  record_versions: { takes: ['p'], text: `select from lanefold.record_versions($1)`, returns: 'value' },
  redeliver: {
    takes: ['threadId', 'id', 'webhookId', 'by'],
    text: `select lanefold.redeliver($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  release_run: {
    takes: ['threadId', 'runId', 'lease', 'stopping'],
    text: `select thread_id, run_id, agent, enqueue_no, queue_shard from lanefold.release_run($1, $2, $3, $4)`,
    returns: 'rows',
  },
  remove_alarm: {
    takes: ['tenant', 'name', 'by'],
    text: `select r.result as result from lanefold.remove_alarm($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  remove_case: {
    takes: ['id', 'by'],
    text: `select r.result as result from lanefold.remove_case($1, $2) as r (result)`,
    returns: 'value',
  },
  remove_eval: {
    takes: ['eval', 'by'],
    text: `select r.result as result from lanefold.remove_eval($1, $2) as r (result)`,
    returns: 'value',
  },
  remove_limit: {
    takes: ['owner', 'name', 'by'],
    text: `select r.result as result from lanefold.remove_limit($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  remove_monitor: {
    takes: ['tenant', 'name', 'by'],
    text: `select r.result as result from lanefold.remove_monitor($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  remove_rollout: {
    takes: ['agent', 'by'],
    text: `select r.result as result from lanefold.remove_rollout($1, $2) as r (result)`,
    returns: 'value',
  },
  remove_schedule: {
    takes: ['tenant', 'name', 'by', 'source'],
    text: `select r.result as result from lanefold.remove_schedule($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  remove_webhook: {
    takes: ['tenant', 'name', 'by'],
    text: `select r.result as result from lanefold.remove_webhook($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  renew_lease: {
    takes: ['threadId', 'runId', 'lease', 'leaseMs'],
    text: `select lost, cancel_requested, renewed from lanefold.renew_lease($1, $2, $3, $4)`,
    returns: 'rows',
  },
  renew_leases: {
    takes: ['leases', 'leaseMs'],
    text: `select thread_id, run_id, lost, cancel_requested, renewed from lanefold.renew_leases($1, $2)`,
    returns: 'rows',
  },
  report_circuits: {
    takes: ['calls', 'rule'],
    text: `select r.result as result from lanefold.report_circuits($1, $2) as r (result)`,
    returns: 'value',
  },
  report_worker: { takes: ['id', 'p'], text: `select from lanefold.report_worker($1, $2)`, returns: 'value' },
  rescore_eval: {
    takes: ['eval', 'by', 'queue'],
    text: `select r.result as result from lanefold.rescore_eval($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  reserve_eval_item: {
    takes: ['eval', 'no', 'takenAt', 'micros'],
    text: `select r.result as result from lanefold.reserve_eval_item($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  resume_run: {
    takes: ['threadId', 'runId', 'step', 'prefix'],
    text: `select lanefold.resume_run($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  revoke_key: {
    takes: ['id', 'by'],
    text: `select r.result as result from lanefold.revoke_key($1, $2) as r (result)`,
    returns: 'value',
  },
  revoke_role: { takes: ['role'], text: `select from lanefold.revoke_role($1)`, returns: 'value' },
  rotate_key: {
    takes: ['id', 'hash', 'createdBy', 'overlapMs'],
    text: `select r.result as result from lanefold.rotate_key($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  rotate_webhook: {
    takes: ['tenant', 'name', 'keepMs', 'by'],
    text: `select r.result as result from lanefold.rotate_webhook($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  run_ended: { takes: ['threadId', 'runId'], text: `select lanefold.run_ended($1, $2) as result`, returns: 'value' },
  run_marks: {
    takes: ['threadId', 'runIds'],
    text: `select run_id, kind, seq::float8 as seq, llm_call_id, data from lanefold.run_marks($1, $2)`,
    returns: 'rows',
  },
  schema_version: {
    takes: [],
    text: `select r.result as result from lanefold.schema_version() as r (result)`,
    returns: 'value',
  },
  set_alarm: { takes: ['tenant', 'name', 'p'], text: `select from lanefold.set_alarm($1, $2, $3)`, returns: 'value' },
  set_limit: {
    takes: ['owner', 'name', 'p'],
    text: `select r.result::float8 as result from lanefold.set_limit($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  set_monitor: {
    takes: ['tenant', 'name', 'p'],
    text: `select from lanefold.set_monitor($1, $2, $3)`,
    returns: 'value',
  },
  set_rollout: { takes: ['agent', 'p'], text: `select from lanefold.set_rollout($1, $2)`, returns: 'value' },
  set_schedule: {
    takes: ['tenant', 'name', 'p'],
    text: `select r.result as result from lanefold.set_schedule($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  set_thread_version: {
    takes: ['threadId', 'agent', 'version', 'by'],
    text: `select lanefold.set_thread_version($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  set_webhook: {
    takes: ['tenant', 'name', 'id', 'p'],
    text: `select r.result as result from lanefold.set_webhook($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  settle_alarm: {
    takes: ['tenant', 'name', 'takenAt', 'p', 'holdMs'],
    text: `select r.result as result from lanefold.settle_alarm($1, $2, $3, $4, $5) as r (result)`,
    returns: 'value',
  },
  settle_deliveries: {
    takes: ['threadId', 'p', 'waits'],
    text: `select lanefold.settle_deliveries($1, $2, $3) as result`,
    returns: 'value',
  },
  settle_eval_item: {
    takes: ['eval', 'no', 'takenAt', 'p'],
    text: `select r.result as result from lanefold.settle_eval_item($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  settle_slot: {
    takes: ['tenant', 'name', 'slot', 'takenAt', 'p'],
    text: `select from lanefold.settle_slot($1, $2, $3, $4, $5)`,
    returns: 'value',
  },
  spread_event: {
    takes: ['threadId', 'type', 'key', 'begin', 'leaseMs'],
    text: `select lanefold.spread_event($1, $2, $3, $4, $5) as result`,
    returns: 'value',
  },
  start_eval: { takes: ['tenant', 'id', 'p'], text: `select from lanefold.start_eval($1, $2, $3)`, returns: 'value' },
  start_eval_item: {
    takes: ['eval', 'no', 'takenAt', 'p'],
    text: `select r.result as result from lanefold.start_eval_item($1, $2, $3, $4) as r (result)`,
    returns: 'value',
  },
  store_run_score: {
    takes: ['tenant', 'name', 'p'],
    text: `select r.result as result from lanefold.store_run_score($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  suspend_run: {
    takes: ['threadId', 'runId', 'lease', 'step', 'p'],
    text: `select lanefold.suspend_run($1, $2, $3, $4, $5) as result`,
    returns: 'value',
  },
  take_alarms: {
    takes: ['holdMs', 'limit'],
    text: `select r.result as result from lanefold.take_alarms($1, $2) as r (result)`,
    returns: 'rows',
  },
  take_deliveries: {
    takes: ['threadId', 'p', 'leaseMs', 'waits'],
    text: `select lanefold.take_deliveries($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  take_eval_items: {
    takes: ['eval', 'agents', 'holdMs'],
    text: `select r.result as result from lanefold.take_eval_items($1, $2, $3) as r (result)`,
    returns: 'rows',
  },
  take_eval_scoring: {
    takes: ['eval', 'no', 'holdMs'],
    text: `select to_jsonb(r.result) as result from lanefold.take_eval_scoring($1, $2, $3) as r (result)`,
    returns: 'value',
  },
  take_eval_threads: {
    takes: ['limit', 'holdMs'],
    text: `select r.result as result from lanefold.take_eval_threads($1, $2) as r (result)`,
    returns: 'rows',
  },
  take_monitors: {
    takes: ['queue', 'scorers', 'agents', 'holdMs', 'limit'],
    text: `select r.result as result from lanefold.take_monitors($1, $2, $3, $4, $5) as r (result)`,
    returns: 'rows',
  },
  take_slot: {
    takes: ['tenant', 'name', 'slot', 'agents', 'active', 'againMs'],
    text: `select r.result as result from lanefold.take_slot($1, $2, $3, $4, $5, $6) as r (result)`,
    returns: 'value',
  },
  test_webhook: {
    takes: ['threadId', 'tenant', 'webhookId', 'by'],
    text: `select lanefold.test_webhook($1, $2, $3, $4) as result`,
    returns: 'value',
  },
  thread_state_at: {
    takes: ['threadId', 'upto'],
    text: `select lanefold.thread_state_at($1, $2) as result`,
    returns: 'value',
  },
  told_parent: {
    takes: ['threadId', 'runId'],
    text: `select lanefold.told_parent($1, $2) as result`,
    returns: 'value',
  },
  unattended_ms: {
    takes: ['queuePrefix', 'agent', 'version', 'strategy', 'tools', 'since'],
    text: `select r.result as result from lanefold.unattended_ms($1, $2, $3, $4, $5, $6) as r (result)`,
    returns: 'value',
  },
  unattended_reason: {
    takes: ['queuePrefix', 'agent', 'version', 'strategy', 'tools'],
    text: `select r.result as result from lanefold.unattended_reason($1, $2, $3, $4, $5) as r (result)`,
    returns: 'value',
  },
  update_case: {
    takes: ['id', 'p'],
    text: `select r.result as result from lanefold.update_case($1, $2) as r (result)`,
    returns: 'value',
  },
  use_limits: { takes: ['calls'], text: `select result from lanefold.use_limits($1)`, returns: 'rows' },
  verify_call: {
    takes: ['threadId', 'llmCallId'],
    text: `select lanefold.verify_call($1, $2) as result`,
    returns: 'value',
  },
  verify_thread: {
    takes: ['threadId'],
    text: `select seq::float8 as seq, upto::float8 as upto, problem from lanefold.verify_thread($1)`,
    returns: 'rows',
  },
  write_audit: { takes: ['p'], text: `select from lanefold.write_audit($1)`, returns: 'value' },
} as const satisfies Record<
  keyof DatabaseFunctions,
  { takes: readonly string[]; text: string; returns: 'rows' | 'value' }
>;
