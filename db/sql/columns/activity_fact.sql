comment on column lanefold.activity_fact.at is 'the start of the hour in which the runs were accepted';
comment on column lanefold.activity_fact.agent is 'the agent that ended the runs';
comment on column lanefold.activity_fact.agent_version is 'the version of the agent; empty: no worker had taken the runs';
comment on column lanefold.activity_fact.fact is '`mark`, `error` or `wait`';
comment on column lanefold.activity_fact.value is 'the kind of the mark; the type of the error; how many ms the runs waited for their first start at most, in steps of a factor of 1.4';
comment on column lanefold.activity_fact.runs is 'how many runs';
comment on column lanefold.activity_fact.last_at is 'when the last of them ended';
comment on column lanefold.activity_fact.tenant_id is 'the tenant; with `at`, `agent`, `agent_version`, `fact` and `value`, the key';
