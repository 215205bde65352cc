-- Whether only workers call a function: those of the run protocol, the sweep and retention.
create or replace function lanefold._is_for_workers(p_function text)
returns boolean language sql immutable parallel safe
return p_function in ('advance_schedule', 'claim_failed', 'claim_run', 'commit_step', 'count_activity', 'count_attempt', 'count_dropped',
  'delay_run', 'drop_deliveries', 'drop_idle_buckets', 'drop_kept_events', 'drop_slots', 'drop_trace', 'end_child', 'end_wait_task', 'expire_waits', 'fail_expired',
  'fail_unknown_agent', 'finish_cancelled_run', 'finish_run', 'forget_webhook', 'give_up_deliveries', 'holding_limit_accounts', 'idle_limit_accounts', 'loss_cause', 'move_for_tools', 'move_run', 'note_restore', 'open_endpoints',
  'record_tool_call', 'record_versions', 'release_run', 'renew_lease', 'renew_leases',
  'report_worker', 'settle_deliveries', 'settle_slot', 'spread_event', 'suspend_run', 'take_deliveries', 'take_slot', 'told_parent', 'take_eval_items',
  'reserve_eval_item', 'extend_eval_item', 'plan_eval_run', 'start_eval_item', 'take_eval_scoring', 'hold_eval_item', 'await_eval_judge', 'settle_eval_item',
  'take_eval_threads', 'drop_eval_thread', 'take_monitors', 'advance_monitor', 'store_run_score', 'plan_judge', 'drop_run_scores',
  'take_alarms', 'settle_alarm', 'drop_alarm_counts',
  'report_circuits', 'probe_circuit', 'drop_circuits');
