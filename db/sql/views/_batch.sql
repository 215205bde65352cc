-- The trace with its events unpacked. Readers of views need no right on functions, so the phrases of _packed_events stand
-- here again, the last one first.
create or replace view lanefold._batch as
select b.event_seq, b.at, b.entry_seq, b.seq, b.thread_id, b.tenant_id, b.run_id,
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      b.events collate "C",
      E'\x1f', ', "m": '),
      E'\x1e', ', "i": '),
      E'\x1d', ', {"i": '),
      E'\x1c', ', {"c": '),
      E'\x1b', '}, "e": 0, "i": '),
      E'\x1a', '{"d": {"result_seq": '),
      E'\x19', '"message_count": '),
      E'\x18', ', "d": {'),
      E'\x17', '{"d": {"config_fingerprint": "'),
      E'\x16', '", "duration_ms": '),
      E'\x15', ', "tool_name": "'),
      E'\x14', '{"d": {"status": "ok", "attempts": '),
      E'\x13', '", "tool_call_id": "'),
      E'\x12', '{"d": {"tool_name": "'),
      E'\x11', 'final_answer'),
      E'\x10', 'tool_calls'),
      E'\x0f', '"termination_reason": "'),
      E'\x0e', '", "finish_reason": "'),
      E'\x0d', ', "turn_type": "'),
      E'\x0c', ', "output_tokens": '),
      E'\x0b', ', "total_tokens": '),
      E'\x0a', '"usage": {"input_tokens": '),
      E'\x09', ', "k": "request_completed"}'),
      E'\x08', ', "k": "request_started"}'),
      E'\x07', ', "k": "tool_completed"}'),
      E'\x06', ', "k": "tool_started"}'),
      E'\x05', ', "k": "llm_started"'),
      E'\x04', ', "k": "checkpoint", "r": "terminal"}'),
      E'\x03', ', "k": "checkpoint", "r": "after_tools"}'),
      E'\x02', ', "k": "checkpoint", "r": "after_llm"}'),
      E'\x01', ', "k": "llm_completed"}, {"i": ')::jsonb as events
from lanefold._event_batch b;
