-- Keeps an event for waits that begin within p_keep_ms, instead of an earlier one of that name, and drops some that are
-- outdated. The tenant is the session's, or p_tenant.
create or replace function lanefold.keep_event(p_tenant text, p_event text, p_content text, p_keep_ms float8, p_by text)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_tenant constant text := lanefold._new_tenant(jsonb_strip_nulls(jsonb_build_object('tenant_id', p_tenant)));
  v_until constant timestamptz := v_at + p_keep_ms * interval '1 ms';
begin
  perform lanefold.drop_kept_events(100);
  insert into lanefold._kept_event as k (tenant_id, event, content, sent_at, keep_until, sent_by)
  values (v_tenant, p_event, p_content, v_at, v_until, p_by)
  on conflict (tenant_id, event) do update
  set content = excluded.content, sent_at = excluded.sent_at, keep_until = excluded.keep_until, sent_by = excluded.sent_by;
end $$;
