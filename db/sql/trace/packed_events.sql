-- The events of a commit as the trace stores them: the text of the list, in which one character stands for each phrase that
-- nearly every run has. The text of a jsonb contains no control character, so every text is packed without loss; the view
-- `_batch` replaces them backwards. Rows name their phrases by number: a phrase can be added, but none changed, moved or
-- removed. PostgreSQL inlines the function.
create or replace function lanefold._packed_events(p_events jsonb)
returns text language sql immutable parallel safe as $$
  select replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
  replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
  replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      p_events::text collate "C",
      ', "k": "llm_completed"}, {"i": ', E'\x01'),
      ', "k": "checkpoint", "r": "after_llm"}', E'\x02'),
      ', "k": "checkpoint", "r": "after_tools"}', E'\x03'),
      ', "k": "checkpoint", "r": "terminal"}', E'\x04'),
      ', "k": "llm_started"', E'\x05'),
      ', "k": "tool_started"}', E'\x06'),
      ', "k": "tool_completed"}', E'\x07'),
      ', "k": "request_started"}', E'\x08'),
      ', "k": "request_completed"}', E'\x09'),
      '"usage": {"input_tokens": ', E'\x0a'),
      ', "total_tokens": ', E'\x0b'),
      ', "output_tokens": ', E'\x0c'),
      ', "turn_type": "', E'\x0d'),
      '", "finish_reason": "', E'\x0e'),
      '"termination_reason": "', E'\x0f'),
      'tool_calls', E'\x10'),
      'final_answer', E'\x11'),
      '{"d": {"tool_name": "', E'\x12'),
      '", "tool_call_id": "', E'\x13'),
      '{"d": {"status": "ok", "attempts": ', E'\x14'),
      ', "tool_name": "', E'\x15'),
      '", "duration_ms": ', E'\x16'),
      '{"d": {"config_fingerprint": "', E'\x17'),
      ', "d": {', E'\x18'),
      '"message_count": ', E'\x19'),
      '{"d": {"result_seq": ', E'\x1a'),
      '}, "e": 0, "i": ', E'\x1b'),
      ', {"c": ', E'\x1c'),
      ', {"i": ', E'\x1d'),
      ', "i": ', E'\x1e'),
      ', "m": ', E'\x1f');
$$;
