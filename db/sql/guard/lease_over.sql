-- Whether a lease is past, or lies further ahead than a lease of p_lease_ms can: then the clock of the database went back,
-- and a dead worker's run would wait until it is there again. Twice the lease, so that a small correction of the clock takes no
-- run from a live worker. p_slack_ms is added on both sides. p_lease_ms is null for a run claimed under schema 3.
create or replace function lanefold._lease_over(p_until timestamptz, p_lease_ms int, p_at timestamptz, p_slack_ms float8 default 0)
returns boolean language sql stable parallel safe as $$
  select p_until < p_at - p_slack_ms * interval '1 ms'
    or coalesce(p_until > p_at + (p_slack_ms + 2.0 * p_lease_ms) * interval '1 ms', false);
$$;
