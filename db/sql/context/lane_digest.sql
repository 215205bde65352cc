-- The SHA-256, in hex, of a lane's context as of p_upto, whatever the id of its thread. Two threads with the same digest show a
-- model the same context. An import compares it with the digest in the export, which another version may have made: what is
-- hashed here must stay the same, also when lane_context_at returns more.
create or replace function lanefold.lane_digest(p_thread_id text, p_context_ref text, p_upto bigint)
returns text language plpgsql stable as $$
declare
  r record;
  v_digest bytea := sha256(''::bytea);
begin
  for r in
    select jsonb_strip_nulls(jsonb_build_object('context_ref', c.context_ref, 'anchor_seq', c.anchor_seq, 'ordinal', c.ordinal,
        'seq', c.seq, 'role', c.role, 'tool_call_id', c.tool_call_id, 'name', c.name, 'thinking', c.thinking, 'run_id', c.run_id,
        'request_id', c.request_id))
      -- nulls within what callers gave are part of it
      || jsonb_build_object('content', c.content, 'tool_calls', c.tool_calls, 'reasoning_details', c.reasoning_details,
        'provider_metadata', c.provider_metadata, 'refs', c.refs) as row
    from lanefold.lane_context_at(p_thread_id, p_context_ref, p_upto) c
    order by c.ordinal
  loop
    v_digest := sha256(v_digest || convert_to(r.row::text, 'UTF8'));
  end loop;
  return encode(v_digest, 'hex');
end $$;
