-- Whether a live worker that takes jobs from a fleet's queues can execute runs with these needs; see unattended_reason.
create or replace function lanefold._is_attended(p_queue_prefix text, p_agent text, p_version text, p_strategy text,
  p_tools text[] default null)
returns boolean language plpgsql stable as $$
begin
  return lanefold.unattended_reason(p_queue_prefix, p_agent, p_version, p_strategy, p_tools) is null;
end $$;
