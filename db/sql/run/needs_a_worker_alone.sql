-- Whether a run may only be claimed by a worker that holds no other run: after so many claims without progress that the next one
-- is the last, p_max, or the second where that is 1. p.alone says whether the worker is alone, and is absent for one of schema 4,
-- which cannot be.
create or replace function lanefold._needs_a_worker_alone(p_claims int, p_max int, p jsonb)
returns boolean language sql immutable parallel safe as $$
  select p ? 'alone' and not (p -> 'alone')::boolean and p_claims >= greatest(p_max - 1, 1);
$$;
