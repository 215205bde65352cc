comment on column lanefold.lane.thread_id is 'the thread; first part of the key';
comment on column lanefold.lane.context_ref is 'the lane; second part of the key';
comment on column lanefold.lane.anchor_seq is 'the anchor; -1 without an anchor';
comment on column lanefold.lane.last_seq is 'the last entry of the lane';
comment on column lanefold.lane.open_calls is 'tool calls of the last message that have no result yet';
comment on column lanefold.lane.tenant_id is 'the tenant of the thread';
