comment on column lanefold.agent_version.agent is 'the agent; first part of the key';
comment on column lanefold.agent_version.id is 'hash of the definition; second part of the key';
comment on column lanefold.agent_version.label is 'the label with which a worker last started; null: no label';
comment on column lanefold.agent_version.definition is 'prompt, model, settings, tools, strategy, policy, output contract, limits';
comment on column lanefold.agent_version.first_at is 'when a worker first started with the version';
comment on column lanefold.agent_version.last_at is 'when a worker last started with the version';
