-- Reads a stream from a position (null: its tail) until its tail, or until the page has p_bytes or more. With 0 it reads
-- nothing and does not count as a read, which prolongs the life of a stream that has a time to live. Returns one row:
-- `stream` is {status, …}: `missing`, `gone`, `beyond` if there is no such position yet, else `ok` with the stream and, if
-- what comes next is in a trace, `trace`: {run_id, from, upto}. `data` has the messages separated by commas, or the bytes;
-- null if there are none. `next` is the position after them.
create or replace function lanefold.read_stream(p_thread text, p_name text, p_from bigint, p_bytes int)
returns table (stream jsonb, data bytea, next bigint) language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_path constant text := lanefold._stream_path(p_thread, p_name);
  s lanefold._stream;
  -- whose data is read, and where the reader leaves it
  c lanefold._stream;
  v_upto bigint;
  v_first bigint;
  v_end bigint;
  v_page bytea;
begin
  select * into s from lanefold._stream k where k.path = v_path;
  if s.id is null or s.expires_at <= v_at then
    stream := jsonb_build_object('status', 'missing');
  elsif s.deleted_at is not null then
    stream := jsonb_build_object('status', 'gone');
  elsif p_from > s.tail then
    stream := lanefold._stream_answer('beyond', s);
  else
    stream := lanefold._stream_answer('ok', s);
  end if;
  next := coalesce(p_from, s.tail);
  if stream ->> 'status' <> 'ok' or p_bytes = 0 then
    return next;
    return;
  end if;
  -- not at every read: that would write as much as it reads
  if s.ttl_s is not null and s.expires_at < v_at + s.ttl_s * interval '1 s' - least(s.ttl_s / 20.0, 60) * interval '1 s' then
    update lanefold._stream k set expires_at = v_at + s.ttl_s * interval '1 s' where k.id = s.id;
  end if;
  while next < s.tail and coalesce(octet_length(data), 0) < p_bytes loop
    c := s;
    v_upto := s.tail;
    while next < c.fork_at and not c.of_trace loop
      v_upto := least(v_upto, c.fork_at);
      select * into c from lanefold._stream k where k.id = c.source_id;
    end loop;
    if next < c.fork_at then
      if data is null then
        stream := stream || jsonb_build_object('trace',
          jsonb_build_object('run_id', c.source_run_id, 'from', next, 'upto', least(v_upto, c.fork_at)));
      end if;
      exit;
    end if;
    v_first := (select max(k.pos) from lanefold._stream_chunk k where k.stream_id = c.id and k.pos <= next);
    -- a fork may begin or end within an append
    select string_agg(case when x.size > 1 then substring(x.data from greatest(read_stream.next - x.pos, 0)::int + 1
             for (least(v_upto, x.pos + x.size) - greatest(read_stream.next, x.pos))::int) else x.data end,
             case when s.media_type = 'application/json' then '\x2c'::bytea else '\x'::bytea end order by x.pos),
           max(least(v_upto, x.pos + x.size))
    into v_page, v_end
    from (
      select k.pos, k.size, k.data, sum(octet_length(k.data)) over (order by k.pos) - octet_length(k.data) as before
      from (
        select l.pos, l.size, l.data from lanefold._stream_chunk l
        where l.stream_id = c.id and l.pos >= coalesce(v_first, read_stream.next) and l.pos < v_upto order by l.pos limit 2000
      ) k
    ) x where x.before < p_bytes;
    exit when v_end is null;
    data := case when data is null then v_page when s.media_type = 'application/json' then data || '\x2c'::bytea || v_page else data || v_page end;
    next := v_end;
  end loop;
  return next;
end $$;
