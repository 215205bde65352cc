comment on column lanefold.rollout.agent is 'the agent; the key';
comment on column lanefold.rollout.shares is 'share of each label, relative to the sum';
comment on column lanefold.rollout.key is 'the limit key whose value is hashed; null: the thread';
comment on column lanefold.rollout.updated_at is 'when the rollout was last set';
comment on column lanefold.rollout.updated_by is '`operator`, `key:<id>` of an API key or `cli:<user>`';
