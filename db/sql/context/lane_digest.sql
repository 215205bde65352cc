-- The SHA-256, in hex, of a lane's context as of p_upto: of the rows of lane_context_at without the id of the thread. Two
-- threads with the same digest show a model the same. An import compares it with the digest in the export.
create or replace function lanefold.lane_digest(p_thread_id text, p_context_ref text, p_upto bigint)
returns text language plpgsql stable as $$
declare
  r record;
  v_digest bytea := sha256(''::bytea);
begin
  for r in
    select c.ordinal, to_jsonb(c) - 'thread_id' as row from lanefold.lane_context_at(p_thread_id, p_context_ref, p_upto) c
    order by c.ordinal
  loop
    v_digest := sha256(v_digest || convert_to(r.row::text, 'UTF8'));
  end loop;
  return encode(v_digest, 'hex');
end $$;
