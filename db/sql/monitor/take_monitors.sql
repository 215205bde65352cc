-- Takes monitors of a private queue, or with null those of shared queues, that no other worker has, for p_hold_ms: those of a worker with these
-- scorers and agents that have waited longest. Returns the row of
-- each, with `until`: runs that ended up to then can be read, because their commits are done.
create or replace function lanefold.take_monitors(p_queue text, p_scorers jsonb, p_agents jsonb, p_hold_ms int, p_limit int)
returns setof jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_until constant timestamptz := v_at + p_hold_ms * interval '1 ms';
  -- a run ends at the time that its commit began with
  v_done constant timestamptz := v_at - interval '5 seconds';
begin
  return query
    update lanefold._monitor m set taken_at = v_at, held_until = v_until
    from (
      select n.tenant_id, n.name from lanefold._monitor n
      where n.queue_prefix is not distinct from p_queue and (n.held_until is null or n.held_until <= v_at) and to_jsonb(n.scorers) <@ p_scorers
        and (n.judge is null or p_agents ? (n.judge ->> 'agent'))
      order by n.held_until nulls first limit p_limit for update skip locked) next
    where m.tenant_id = next.tenant_id and m.name = next.name
    returning to_jsonb(m) || jsonb_build_object('until', v_done);
end $$;

-- Notes how far a monitor that the caller took at p_taken_at is read, and holds it for another p_hold_ms. p: {read_to,
-- thread_id, run_id}, or null to note nothing. Returns false if the caller has lost it.
create or replace function lanefold.advance_monitor(p_tenant text, p_name text, p_taken_at timestamptz, p jsonb, p_hold_ms int)
returns boolean language plpgsql as $$
declare
  v_until constant timestamptz := lanefold._now() + p_hold_ms * interval '1 ms';
begin
  update lanefold._monitor
  set held_until = v_until, read_to = coalesce((p ->> 'read_to')::timestamptz, read_to),
      read_thread_id = coalesce(p ->> 'thread_id', read_thread_id), read_run_id = coalesce(p ->> 'run_id', read_run_id)
  where tenant_id = p_tenant and name = p_name and taken_at = p_taken_at;
  return found;
end $$;
