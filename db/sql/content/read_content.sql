-- A range of a large text, in characters from 0: {id, chars, bytes, offset, text, next_offset?}. A fork reads texts
-- that its parent stores. Raises LF001 and LF003 as every reader of a thread does, LF024 if the thread has no such
-- content.
create or replace function lanefold.read_content(p_thread_id text, p_id text, p_offset int default 0, p_length int default null)
returns jsonb language plpgsql stable as $$
declare
  t lanefold.thread;
  c lanefold.content;
  v_text text;
  v_offset constant int := greatest(p_offset, 0);
begin
  select * into t from lanefold.thread where id = p_thread_id;
  perform lanefold._check_thread(p_thread_id, t);
  select * into c from lanefold.content where thread_id = p_thread_id and id = p_id;
  if not found then
    perform lanefold._fail('LF024', format('Thread %s has no content %s.', p_thread_id, p_id),
      'The ids are in refs.contents of its messages.');
  end if;
  v_text := substr(lanefold._content_text(p_thread_id, p_id), v_offset + 1, coalesce(p_length, c.chars));
  return jsonb_build_object('id', c.id, 'chars', c.chars, 'bytes', c.bytes, 'offset', v_offset, 'text', v_text)
    || case when v_offset + length(v_text) < c.chars then jsonb_build_object('next_offset', v_offset + length(v_text)) else '{}' end;
end $$;
