comment on column lanefold.message_tree.thread_id is 'the thread; first part of the key';
comment on column lanefold.message_tree.seq is 'the entry of the message; second part of the key';
comment on column lanefold.message_tree.context_ref is 'the lane on which it was written';
comment on column lanefold.message_tree.role is '`user`, `assistant` or `tool`';
comment on column lanefold.message_tree.run_id is 'the run that wrote it';
comment on column lanefold.message_tree.parent_seq is 'the message before it, across branches; null: it is the first';
comment on column lanefold.message_tree.siblings is 'how many messages follow the same one, itself included';
comment on column lanefold.message_tree.place is 'its place among them, from 1, in the order of the log';
comment on column lanefold.message_tree.tenant_id is 'the tenant of the thread';
