-- Deletes a stream. While forks need its data, it keeps its row and the data, and no stream can be created under its name.
-- Returns `deleted`, `missing`, or `gone` if it was deleted before.
create or replace function lanefold.delete_stream(p_thread text, p_name text)
returns text language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_path constant text := lanefold._stream_path(p_thread, p_name);
  s lanefold._stream;
begin
  select * into s from lanefold._stream where path = v_path for update;
  if s.id is null then
    return 'missing';
  elsif s.deleted_at is not null then
    return 'gone';
  end if;
  perform lanefold._remove_stream(s.id);
  return case when s.expires_at <= v_at then 'missing' else 'deleted' end;
end $$;

-- Removes a stream unless a fork needs its data, and then the streams deleted before that were kept for it.
create or replace function lanefold._remove_stream(p_stream bigint)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  s lanefold._stream;
begin
  -- a fork that is being created holds the row: see create_stream
  select * into s from lanefold._stream where id = p_stream for update;
  if exists (select from lanefold._stream where source_id = p_stream) then
    update lanefold._stream set deleted_at = coalesce(deleted_at, v_at) where id = p_stream;
    return;
  end if;
  delete from lanefold._stream_chunk where stream_id = p_stream;
  delete from lanefold._stream_producer where stream_id = p_stream;
  delete from lanefold._stream where id = p_stream;
  select * into s from lanefold._stream where id = s.source_id for update;
  if s.deleted_at is not null then
    perform lanefold._remove_stream(s.id);
  end if;
end $$;

-- Deletes streams that have expired, up to p_most of them, the oldest first. Returns how many.
create or replace function lanefold.drop_expired_streams(p_most int)
returns int language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_stream bigint;
  v_count int := 0;
begin
  for v_stream in
    select id from lanefold._stream where expires_at <= v_at and deleted_at is null order by expires_at limit p_most for update skip locked
  loop
    perform lanefold._remove_stream(v_stream);
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;

-- Deletes the streams of a thread that is being erased, or with null those of a tenant that belong to no thread. Forks of
-- them are among them.
create or replace function lanefold.erase_streams(p_thread text, p_tenant text default null)
returns void language plpgsql as $$
declare
  v_streams bigint[];
begin
  if p_thread is not null then
    with gone as (delete from lanefold._stream where thread_id = p_thread returning id)
    select array_agg(id) into v_streams from gone;
  else
    with gone as (delete from lanefold._stream where tenant_id = p_tenant and thread_id is null returning id)
    select array_agg(id) into v_streams from gone;
  end if;
  delete from lanefold._stream_chunk where stream_id = any (v_streams);
  delete from lanefold._stream_producer where stream_id = any (v_streams);
end $$;
