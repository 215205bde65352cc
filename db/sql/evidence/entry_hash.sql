-- The hash of an entry in the chain of its thread: the SHA-256 of the previous hash followed by all columns of the
-- entry, as the text of a jsonb array. That text is the same on every server: keys in a fixed order, numbers digit by
-- digit. src/database/store/evidence/entry-hash.ts computes the same.
create or replace function lanefold._entry_hash(e lanefold._entry, p_before bytea)
returns bytea language plpgsql stable as $$
begin
  return sha256(p_before || convert_to(jsonb_build_array(e.thread_id, e.tenant_id, e.seq,
    (extract(epoch from e.at) * 1000000)::bigint, e.kind, e.context_ref, e.role, e.op_id, e.run_id, e.request_id, e.is_anchor,
    e.payload, e.refs)::text, 'UTF8'));
end $$;

-- The hash before the first entry of a thread.
create or replace function lanefold._chain_start(p_thread_id text)
returns bytea language plpgsql immutable as $$
begin
  return sha256(convert_to('lanefold ' || p_thread_id, 'UTF8'));
end $$;
