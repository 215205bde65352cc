-- Gives a fork the large texts that its contexts quote, without copying them. p_contents: [{id, home}], where home is
-- the thread that stores the text. The rows of that thread stay locked until the fork commits, so that erasing it
-- cannot remove a text meanwhile. Raises LF003 if it was already erased.
create or replace function lanefold._share_contents(p_thread_id text, p_tenant_id text, p_contents jsonb)
returns void language plpgsql as $$
declare
  k record;
  v_at constant timestamptz := lanefold._now();
begin
  for k in
    select x.id, x.home, c.chars, c.bytes from jsonb_to_recordset(p_contents) as x (id text, home text)
    left join lanefold.content c on c.thread_id = x.home and c.id = x.id
    order by x.home, x.id
  loop
    perform from lanefold.content where thread_id = k.home and id = k.id and text is not null for key share;
    if not found then
      perform lanefold._fail('LF003', format('Thread %s was erased.', k.home), 'Its content can no longer be forked.');
    end if;
    insert into lanefold.content (thread_id, tenant_id, id, home_thread_id, chars, bytes, created_at)
    values (p_thread_id, p_tenant_id, k.id, k.home, k.chars, k.bytes, v_at);
  end loop;
end $$;
