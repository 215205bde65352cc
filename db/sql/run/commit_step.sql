-- Commits one step of a run; called by its lease holder. p_step is the step the worker believes the run is at: a lower
-- one returns the stored outcome and writes nothing (the acknowledgement was lost), the same one is applied, a higher
-- one raises.
--
-- A step with `finish` ends the run: see _complete_run for its terminal status and events, and _after_finish for what
-- follows. All other ends of a run are written by finish_run.
--
-- p: {entries?: drafts, events?: before and then_events?: after drained input, state, iteration, usage?,
-- other_usage?: the part of usage spent on models other than the run's, by model,
-- calls?: new ledger rows [{index, id, name, status?}], round?, calls_at?: offset of the entry that makes them,
-- default 0,
-- lanes?: names of lanes that entries of this step open, nodes?: see _write_nodes, contents?: see _store_contents,
-- outcomes?: of the round that ends, one per call {status, attempts, duration_ms}, outcomes_round?: its number if
-- `calls` start the next round, results_at?: offset of its first tool message,
-- effects?: on the thread's state, of the round that ends, in call order, drain?: boolean,
-- finish?: {status, reason, result?, shown?: the result as its event may quote it, error?, events?, output?},
-- seal?: boolean, closes the input queue while the run continues,
-- continue?: {state, iteration, events} in place of finish or seal if input waits,
-- resumed?: boolean, the step only resumes the run and does not count as progress,
-- max_events?: length of the trace at which droppable events are left out, default 2000,
-- awaited?: boolean, a client waits for the run; in a batch, the call says so instead}.
-- Returns {step, finished, status, cancel_requested, seq?: of the first entry, inputs?: [{seq, content, refs}],
-- promoted?, run?: as read_run returns it, if the run ended and is awaited}. Raises LF012 for a worker that no longer
-- holds the run, LF013 for a step too high, LF014 for a state above 64 KB.
create or replace function lanefold.commit_step(p_thread_id text, p_run_id text, p_lease bigint, p_step int, p_lease_ms int, p jsonb)
returns jsonb language plpgsql as $$
declare
  v_out jsonb;
begin
  v_out := lanefold._apply_step(p_thread_id, lanefold._await_thread(p_thread_id), p_run_id, p_lease, p_step, p_lease_ms, p);
  if p ? 'awaited' and (v_out -> 'finished')::boolean then
    v_out := v_out || jsonb_build_object('run', lanefold.read_run(p_thread_id, p_run_id));
  end if;
  return v_out;
end $$;
