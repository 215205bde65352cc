-- Whether a lease has expired, or ends later than a lease of p_lease_ms can. The latter means that the database clock
-- went back: a dead worker's run would wait until the clock catches up. The limit is twice the lease, so that a small
-- clock correction takes no run from a live worker. p_slack_ms is added on both sides.
create or replace function lanefold._lease_over(p_until timestamptz, p_lease_ms int, p_at timestamptz, p_slack_ms float8 default 0)
returns boolean language sql stable parallel safe as $$
  select p_until < p_at - p_slack_ms * interval '1 ms'
    or p_until > p_at + (p_slack_ms + 2.0 * p_lease_ms) * interval '1 ms';
$$;
