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
  if s.id is null or s.deleted_at is not null and s.expires_at <= v_at then
    return 'missing';
  elsif s.deleted_at is not null then
    return 'gone';
  end if;
  perform lanefold._remove_stream(s.id);
  return case when s.expires_at <= v_at then 'missing' else 'deleted' end;
end $$;

-- Removes a stream unless a fork needs its data. A stream that was deleted before and was kept for it alone expires now, so
-- that drop_expired_streams deletes it: a chain of forks may have any amount of data.
create or replace function lanefold._remove_stream(p_stream bigint)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_source bigint;
  s lanefold._stream;
begin
  -- a fork that is being created holds the row: see create_stream
  select source_id into v_source from lanefold._stream where id = p_stream for update;
  if exists (select from lanefold._stream where source_id = p_stream) then
    update lanefold._stream set deleted_at = coalesce(deleted_at, v_at), expires_at = null where id = p_stream;
    return;
  end if;
  delete from lanefold._stream_chunk where stream_id = p_stream;
  delete from lanefold._stream_producer where stream_id = p_stream;
  delete from lanefold._stream where id = p_stream;
  while v_source is not null loop
    select * into s from lanefold._stream where id = v_source for update;
    exit when s.deleted_at is null or exists (
      select from lanefold._stream f where f.source_id = s.id and (f.deleted_at is null or f.expires_at is null));
    update lanefold._stream set expires_at = v_at where id = s.id;
    v_source := s.source_id;
  end loop;
end $$;

-- Deletes the stream that expired first, or, if it has more, its first p_most chunks or those with 16 MiB. Returns how many rows
-- it deleted or kept for forks; 0 if nothing has expired. Repeat it, each time in its own transaction, until it returns 0.
create or replace function lanefold.drop_expired_streams(p_most int)
returns int language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_stream bigint;
  v_count int := 0;
begin
  -- of a chain that is needed no more, the last one first
  select k.id into v_stream from lanefold._stream k
  where k.expires_at <= v_at and not exists (
    select from lanefold._stream f where f.source_id = k.id and f.deleted_at is not null and f.expires_at <= v_at)
  order by k.expires_at limit 1 for update of k skip locked;
  if v_stream is null then
    return 0;
  end if;
  if not exists (select from lanefold._stream where source_id = v_stream) then
    delete from lanefold._stream_chunk where stream_id = v_stream and pos in (
      select x.pos from (
        select c.pos, sum(octet_length(c.data)) over (order by c.pos) - octet_length(c.data) as before
        from (select pos, data from lanefold._stream_chunk where stream_id = v_stream order by pos limit p_most) c
      ) x where x.before < 16777216);
    get diagnostics v_count = row_count;
    if exists (select from lanefold._stream_chunk where stream_id = v_stream) then
      return v_count;
    end if;
  end if;
  perform lanefold._remove_stream(v_stream);
  return v_count + 1;
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
