-- Whether only a worker that holds no other run may claim a run: when the next claim without progress is the last one
-- allowed (p_max), or the second one if p_max is 1. p.alone says whether the worker holds no other run; workers of
-- schema 4 leave it out, and this rule does not apply to them.
create or replace function lanefold._needs_a_worker_alone(p_claims int, p_max int, p jsonb)
returns boolean language sql immutable parallel safe as $$
  select p ? 'alone' and not (p -> 'alone')::boolean and p_claims >= greatest(p_max - 1, 1);
$$;
