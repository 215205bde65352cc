-- Appends to a stream, closes it, or both. p: {media_type, seq?, producer?: {id, epoch, seq}, close}. p_data: as for
-- create_stream; null to close it only. Returns {status, …} with the stream: `appended`; `duplicate` with epoch and seq, if
-- the producer has sent the request before, or the stream was closed before and this only closes it; `missing`, `gone`,
-- `closed`, `wrong_type`; `stale_epoch` with the current epoch; `bad_epoch` if a new epoch does not begin with 0; `gap` with
-- the expected number; `old_seq` if p.seq is not above the last one. Only the first two wrote or had written.
create or replace function lanefold.append_stream(p_thread text, p_name text, p jsonb, p_data bytea[])
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_path constant text := lanefold._stream_path(p_thread, p_name);
  v_by constant jsonb := p -> 'producer';
  v_epoch constant bigint := (v_by ->> 'epoch')::bigint;
  v_seq constant bigint := (v_by ->> 'seq')::bigint;
  v_close constant boolean := (p -> 'close')::boolean;
  s lanefold._stream;
  w lanefold._stream_producer;
begin
  select * into s from lanefold._stream where path = v_path for no key update;
  if s.id is null or s.expires_at <= v_at then
    return jsonb_build_object('status', 'missing');
  elsif s.deleted_at is not null then
    return jsonb_build_object('status', 'gone');
  end if;
  if v_by is not null then
    select * into w from lanefold._stream_producer where stream_id = s.id and producer = v_by ->> 'id';
    if v_epoch < w.epoch then
      return lanefold._stream_answer('stale_epoch', s) || jsonb_build_object('epoch', w.epoch);
    end if;
  end if;
  if s.closed_at is not null then
    if s.closed_by = v_by or v_by is null and p_data is null and v_close then
      return lanefold._stream_answer('duplicate', s) || jsonb_build_object('epoch', w.epoch, 'seq', w.seq);
    end if;
    return lanefold._stream_answer('closed', s);
  elsif p_data is not null and s.media_type is distinct from p ->> 'media_type' then
    return lanefold._stream_answer('wrong_type', s);
  end if;
  if v_by is not null then
    if w.stream_id is not null and v_epoch > w.epoch and v_seq <> 0 then
      return lanefold._stream_answer('bad_epoch', s);
    elsif v_epoch = w.epoch and v_seq <= w.seq then
      return lanefold._stream_answer('duplicate', s) || jsonb_build_object('epoch', w.epoch, 'seq', w.seq);
    elsif v_seq > coalesce(w.seq + 1, 0) and v_epoch is not distinct from coalesce(w.epoch, v_epoch) then
      return lanefold._stream_answer('gap', s) || jsonb_build_object('expected', coalesce(w.seq + 1, 0));
    end if;
  end if;
  if p ->> 'seq' <= s.last_seq then
    return lanefold._stream_answer('old_seq', s);
  end if;
  if v_by is not null then
    insert into lanefold._stream_producer as k (stream_id, tenant_id, producer, epoch, seq)
    values (s.id, s.tenant_id, v_by ->> 'id', v_epoch, v_seq)
    on conflict (stream_id, producer) do update set epoch = excluded.epoch, seq = excluded.seq;
  end if;
  s.tail := lanefold._add_chunks(s, p_data);
  s.closed_at := case when v_close then v_at end;
  s.expires_at := coalesce(v_at + s.ttl_s * interval '1 s', s.expires_at);
  update lanefold._stream
  set tail = s.tail, closed_at = s.closed_at, closed_by = case when v_close then v_by end, expires_at = s.expires_at,
      last_seq = coalesce(p ->> 'seq', last_seq)
  where id = s.id;
  return lanefold._stream_answer('appended', s) || jsonb_build_object('epoch', v_epoch, 'seq', v_seq);
end $$;
