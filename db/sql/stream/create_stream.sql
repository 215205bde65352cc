-- Creates a stream, or finds the one that has the name already. p_thread: the thread it belongs to, or null. p:
-- {content_type, media_type (both null: those of the source, else application/octet-stream), closed, asked: {ttl_s,
-- ends_at, from, offset, sub_offset}, source?: {name} or {run_id (null: the trace of the thread), at}}. `asked` is compared with the request
-- that created it. p_data: the messages, or one element of bytes. Returns {status, …}: `created` and `exists` with the
-- stream; `conflict` if another request created it, or its deleted data is still needed; `source_missing`, `source_gone`,
-- `source_type`, `bad_offset`, `bad_sub_offset`, `too_deep` (100 forks of forks) about the source. Raises LF001, LF003, LF016, 55P03.
create or replace function lanefold.create_stream(p_thread text, p_name text, p jsonb, p_data bytea[])
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_asked constant jsonb := p -> 'asked';
  v_source constant jsonb := p -> 'source';
  v_path text;
  v_tenant text;
  v_media text := p ->> 'media_type';
  v_type text := p ->> 'content_type';
  v_ttl bigint := (v_asked ->> 'ttl_s')::bigint;
  v_ends timestamptz := (v_asked ->> 'ends_at')::timestamptz;
  v_expires timestamptz;
  v_fork_at bigint := 0::bigint;
  v_end bigint;
  s lanefold._stream;
  f lanefold._stream;
begin
  perform lanefold._check_id(p_name, 'stream name');
  v_path := lanefold._stream_path(p_thread, p_name);
  select * into s from lanefold._stream where path = v_path for update;
  if s.expires_at <= v_at then
    perform lanefold._remove_stream(s.id);
    select * into s from lanefold._stream where path = v_path;
  end if;
  if s.id is not null then
    if s.deleted_at is null and s.asked = v_asked and (s.closed_at is not null) = (p -> 'closed')::boolean
        and s.media_type = coalesce(v_media, case when v_source is null then 'application/octet-stream' else s.media_type end) then
      return lanefold._stream_answer('exists', s);
    end if;
    return lanefold._stream_answer('conflict', s);
  end if;
  if p_thread is null then
    v_tenant := lanefold._new_tenant('{}');
  else
    v_tenant := (lanefold._lock_thread(p_thread)).tenant_id;
  end if;
  if v_source ? 'name' then
    -- not while it is being deleted
    select * into f from lanefold._stream where path = lanefold._stream_path(p_thread, v_source ->> 'name') for key share;
    if f.id is null or f.expires_at <= v_at then
      return jsonb_build_object('status', 'source_missing');
    elsif f.deleted_at is not null then
      return jsonb_build_object('status', 'source_gone');
    elsif f.media_type <> coalesce(v_media, f.media_type) then
      return jsonb_build_object('status', 'source_type');
    end if;
    -- readers walk the chain
    if (
      with recursive chain as (
        select f.source_id as id, 1 as depth
        union all
        select k.source_id, c.depth + 1 from chain c join lanefold._stream k on k.id = c.id where c.depth < 100
      )
      select max(depth) from chain) >= 100 then
      return jsonb_build_object('status', 'too_deep');
    end if;
    v_fork_at := coalesce((v_source ->> 'at')::bigint, f.tail);
    if v_fork_at > f.tail then
      return jsonb_build_object('status', 'bad_offset');
    end if;
    if (v_asked ->> 'sub_offset')::bigint > 0 then
      v_end := lanefold._append_end(f.id, v_fork_at);
      v_fork_at := v_fork_at + (v_asked ->> 'sub_offset')::bigint;
      if v_end is null or v_fork_at > v_end then
        return jsonb_build_object('status', 'bad_sub_offset');
      end if;
    end if;
    v_type := coalesce(v_type, f.content_type);
    v_media := f.media_type;
    if v_ttl is null and v_ends is null then
      v_ttl := f.ttl_s;
      v_ends := f.ends_at;
    end if;
  elsif v_source is not null then
    v_fork_at := (v_source ->> 'at')::bigint;
  end if;
  v_media := coalesce(v_media, 'application/octet-stream');
  v_expires := coalesce(v_at + v_ttl * interval '1 s', v_ends);
  insert into lanefold._stream (tenant_id, thread_id, path, name, content_type, media_type, ttl_s, ends_at, expires_at, created_at, asked,
    source_id, of_trace, source_run_id, fork_at, tail)
  values (v_tenant, p_thread, v_path, p_name, coalesce(v_type, 'application/octet-stream'), v_media, v_ttl, v_ends, v_expires, v_at, v_asked,
    f.id, coalesce(v_source ? 'run_id', false), v_source ->> 'run_id', v_fork_at, v_fork_at)
  on conflict (path) do nothing returning * into s;
  if s.id is null then
    -- created by another session just now
    return lanefold.create_stream(p_thread, p_name, p, p_data);
  end if;
  s.tail := lanefold._add_chunks(s, p_data);
  s.closed_at := case when (p -> 'closed')::boolean then v_at end;
  update lanefold._stream set tail = s.tail, closed_at = s.closed_at where id = s.id;
  return lanefold._stream_answer('created', s);
end $$;

-- The path of a stream: names are unique within a thread, and among the streams of a tenant that belong to no thread.
create or replace function lanefold._stream_path(p_thread text, p_name text)
returns text language plpgsql stable as $$
begin
  if p_thread is not null then
    return p_thread || '/' || p_name;
  end if;
  return '/' || coalesce(nullif(lanefold._scope(), '*'), 'default') || '/' || p_name;
end $$;

-- What callers learn of a stream.
create or replace function lanefold._stream_answer(p_status text, s lanefold._stream)
returns jsonb language plpgsql immutable as $$
begin
  return jsonb_build_object('status', p_status, 'id', s.id, 'tail', s.tail, 'closed', s.closed_at is not null,
    'content_type', s.content_type, 'media_type', s.media_type, 'ttl_s', s.ttl_s, 'ends_at', s.ends_at);
end $$;

-- Stores data at the end of a stream, which the caller has locked. Returns the new tail; the caller writes it.
create or replace function lanefold._add_chunks(s lanefold._stream, p_data bytea[])
returns bigint language plpgsql as $$
begin
  if s.media_type = 'application/json' then
    insert into lanefold._stream_chunk (stream_id, tenant_id, pos, size, last, data)
    select s.id, s.tenant_id, s.tail + n - 1, 1, n = cardinality(p_data), d from unnest(p_data) with ordinality as x (d, n);
    return s.tail + coalesce(cardinality(p_data), 0);
  elsif octet_length(p_data[1]) > 0 then
    insert into lanefold._stream_chunk (stream_id, tenant_id, pos, size, last, data)
    values (s.id, s.tenant_id, s.tail, octet_length(p_data[1]), true, p_data[1]);
    return s.tail + octet_length(p_data[1]);
  end if;
  return s.tail;
end $$;

-- The end of the append that has the data at a position of a stream; null if it has none there, or an event of a trace.
create or replace function lanefold._append_end(p_stream bigint, p_pos bigint)
returns bigint language plpgsql stable as $$
declare
  s lanefold._stream;
  v_upto bigint;
  v_from bigint;
begin
  select * into s from lanefold._stream where id = p_stream;
  v_upto := s.tail;
  while p_pos < s.fork_at loop
    v_upto := least(v_upto, s.fork_at);
    if s.source_id is null then
      return null;
    end if;
    select * into s from lanefold._stream where id = s.source_id;
  end loop;
  v_from := (select max(c.pos) from lanefold._stream_chunk c where c.stream_id = s.id and c.pos <= p_pos);
  return least(v_upto, (select c.pos + c.size from lanefold._stream_chunk c
    where c.stream_id = s.id and c.pos >= coalesce(v_from, p_pos) and c.pos + c.size > p_pos and c.last order by c.pos limit 1));
end $$;
